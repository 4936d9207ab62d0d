#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <halfgrad/amp/inspector/timed_ops.h>

namespace halfgrad::amp {

/// The calls of one op in one module, in one dtype and direction.
struct OpTime {
  std::string op;
  std::string module;    ///< dotted path of the module that called the op forward; "" outside
  std::string part_of;   ///< the op that it is a part of: mm is in linear's derivative; "": none
  DType dtype = kFloat;  ///< the result's, or the incoming gradient's
  bool is_backward = false;    ///< ran in a backward pass
  bool is_derivative = false;  ///< the op's part of a backward pass, not a forward op in it
  bool is_composite = false;   ///< a loss that consists of other ops, which have rows of their own
  std::int64_t calls = 0;
  double seconds = 0;             ///< with the calls in it
  double self_seconds = 0;        ///< without them: the sum over all rows counts nothing twice
  std::int64_t result_bytes = 0;  ///< memory of the results or gradients; 0 for views
  std::int64_t launches = 0;      ///< on a GPU, without the calls in it; those of each graph replay
  std::int64_t peak_live_bytes = 0;  ///< largest memory in use at the end of a call
};

/// Adds up the time and memory of this thread's ops while an OpObserverGuard installs it:
///
///   amp::OpTimer timer{amp::NamedModel(model)};
///   {
///     const OpObserverGuard guard(timer);
///     train_step();
///   }
///   std::cout << timer;
///
/// On a GPU the times are those of its kernels, measured by events without a wait.
class OpTimer : public TimedOps {
 public:
  using TimedOps::TimedOps;

  /// The rows in the order of their first calls. Waits for the work of the calls.
  std::vector<OpTime> times();
  void clear();

 protected:
  void timed(std::span<const TimedCall> calls) override;

 private:
  using Key = std::tuple<std::string, std::string, std::string, DType, bool, bool, bool>;

  std::vector<OpTime> rows_;
  std::map<Key, std::size_t> row_of_;
};

/// Prints a table, the op with the longest time of its own first; "linear > mm" is a part of
/// linear. Waits for the work of the calls.
std::ostream& operator<<(std::ostream& out, OpTimer& timer);

}  // namespace halfgrad::amp
