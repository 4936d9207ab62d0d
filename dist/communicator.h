#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <halfgrad/core/array.h>
#include <halfgrad/core/error.h>

/// Training on several processes or GPUs. Each of them is a rank, 0 to size() - 1, and all run the
/// same program.
namespace halfgrad::dist {

/// How all_reduce() and reduce_scatter() combine the elements of all ranks.
enum class ReduceOp {
  sum,
  average,  ///< the sum, divided by size()
  max,      ///< NaN if any rank's element is NaN
};

/// A collective failed: a rank ended, did not answer within the time-out, or called another
/// collective than this one. The message names the rank. Every rank that waits gets the error.
/// The communicator is then broken: each later call throws the same error.
class CommunicationError : public halfgrad::detail::Raised<std::runtime_error> {
 public:
  using Raised::Raised;
};

/// A collective under way, as c10d::Work. Copies refer to the same collective.
class Work {
 public:
  /// The progress of one collective, as its communicator keeps it.
  class State {
   public:
    virtual ~State() = default;
    virtual void wait() = 0;
    virtual bool is_completed() = 0;
  };

  explicit Work(std::shared_ptr<State> state) : state_(std::move(state)) {}

  /// Waits for the collective. Until this returns, its arrays must be neither read nor written. For
  /// arrays on the CPU it blocks the host. For arrays on a GPU it makes the current stream wait;
  /// the host does not wait if the communicator works on the GPU. Throws CommunicationError.
  void wait() const { state_->wait(); }
  /// True once wait() would return without blocking. Throws CommunicationError.
  bool is_completed() const { return state_->is_completed(); }

 private:
  std::shared_ptr<State> state_;
};

/// The time that one collective took, for a trace.
struct CollectiveSpan {
  std::string name;  ///< the collective: "all_reduce"
  std::string call;  ///< the text of errors: "all_reduce (sum) of 10 float32, collective 3"
  /// From the first message to another rank, so the wait for late ranks counts, to the result.
  std::chrono::steady_clock::time_point start, end;
};

/// A group of ranks and their collectives, as c10d::ProcessGroup. Every rank must call the same
/// collectives with the same sizes and dtypes in the same order.
///
/// A collective starts when it is called and is complete after wait():
///
///   communicator->all_reduce(gradient, dist::ReduceOp::average).wait();
///
/// Sums are deterministic: each element is added up in the order of ranks, in double for float64
/// and in float otherwise, and rounded once to the dtype of the array. The bits of a result
/// therefore depend on the number of ranks, but not on how a list of elements is cut into calls.
/// Arrays must be contiguous, of a floating dtype for `average` and of any dtype otherwise, and
/// live until the collective is complete. Calls throw std::invalid_argument otherwise.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// A name of a rank for messages, such as "rank 2 (node7)".
  virtual std::string name_of(int rank) const = 0;

  /// Returns an uninitialised array, contiguous, in the memory that suits this communicator's
  /// collectives best, as c10d::Backend::allocateTensor. Where the ranks are processes of one
  /// machine, all_reduce(), reduce_scatter() and all_gather() then read the inputs of other ranks
  /// where they lie; any other array has to be copied to them. Memory of released arrays is kept
  /// for later ones. Ranks need not call it together.
  virtual Array empty(const Shape& sizes, DType dtype, Device device = {});

  /// Replaces `array` on every rank by the combination of all ranks' arrays.
  [[nodiscard]] virtual Work all_reduce(const Array& array, ReduceOp op = ReduceOp::sum) = 0;
  /// Combines all ranks' inputs, of size() * n elements, and gives rank r elements r * n to
  /// (r + 1) * n - 1. `output` has n elements, and may be that part of `input`.
  [[nodiscard]] virtual Work reduce_scatter(const Array& output, const Array& input,
                                            ReduceOp op = ReduceOp::sum) = 0;
  /// Writes the inputs of all ranks, of n elements each, one after another into `output`, of
  /// size() * n elements. `input` may be this rank's part of `output`.
  [[nodiscard]] virtual Work all_gather(const Array& output, const Array& input) = 0;
  /// Replaces `array` on every rank by that of `root`.
  [[nodiscard]] virtual Work broadcast(const Array& array, int root = 0) = 0;
  /// Returns when every rank has called it.
  virtual void barrier() = 0;

  /// Calls `observer` for each collective that ends while the result lives: before wait() returns,
  /// on the thread that executes the collectives, one after another. The observer must not throw.
  /// Draws the collectives in a trace, beside the ops of report::TraceWriter:
  ///
  ///   const auto watch = communicator->watch([&](const dist::CollectiveSpan& span) {
  ///     trace.slice("communication", span.name, span.start, span.end, {{"call", span.call}});
  ///   });
  ///
  /// The communicator of a program that runs alone has no collectives to show. Throws
  /// std::runtime_error for one that works on the GPU, where Nsight Systems shows them.
  [[nodiscard]] virtual std::shared_ptr<void> watch(
      std::function<void(const CollectiveSpan&)> observer);

 protected:
  Communicator() = default;
};

}  // namespace halfgrad::dist
