#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <halfgrad/amp/inspector/named_model.h>
#include <halfgrad/autograd/op_observer.h>
#include <halfgrad/autograd/precision.h>
#include <halfgrad/core/dtype.h>

namespace halfgrad::amp {

/// How an operand came to the dtype in which the op read it.
enum class OperandCast : std::uint8_t {
  none,
  made,    ///< autocast converted it for this call
  cached,  ///< autocast had converted it before in this region
};

/// An operand of a recorded call: its dtypes before and after the cast.
struct OperandRecord {
  DType given;            ///< dtype that the caller passed
  DType read;             ///< dtype that the op read
  OperandCast cast;       ///< how `given` became `read`
  std::int64_t numel;     ///< number of elements
  std::int64_t dim;       ///< number of dimensions; 0 for a number such as the 0.01 of x + 0.01
  std::string parameter;  ///< its name in the model; "" for other tensors

  /// Bytes read and written by the conversion for this call: 0 if none was made.
  std::int64_t bytes_cast() const;
};

/// One call of an op: what autocast decided, and from which facts.
struct OpRecord {
  std::string op;
  Precision precision;
  std::string module;  ///< dotted path of the module that called the op; "" outside modules
  std::vector<OperandRecord> operands;  ///< the defined ones
  DType result;
  int depth = 0;              ///< number of autocast regions in force; 0 inside a composite
  bool is_composite = false;  ///< a loss that consists of the ops before it
  std::int64_t step = 0;      ///< number of calls of OpLog::next_step() before it

  /// The widest floating-point dtype among the operands as the op read them; the result's if there
  /// is none. Operands without dimensions count only if no other has a floating-point dtype.
  DType run_dtype() const;
  /// True if some operands came in 16 bits, and an op that would have run in 16 bits ran in float32
  /// because another operand came in float32.
  bool is_promoted() const;
};

/// One sentence: "linear (tensor_core) in encoder.2: ran in float16; operand 0 converted from
/// float32; operand 1, encoder.2.weight, converted from float32 before: the copy is cached".
std::string explain(const OpRecord& record);

/// The calls of one op that ran in one dtype.
struct OpSummary {
  std::string op;
  Precision precision;
  DType run_dtype;
  std::int64_t calls = 0;
  std::int64_t casts_made = 0;
  std::int64_t casts_cached = 0;
  std::int64_t bytes_cast = 0;
  std::int64_t promoted = 0;  ///< calls with is_promoted()
};

/// Records the forward ops of this thread while an OpObserverGuard installs it:
///
///   amp::OpLog log{amp::NamedModel(model)};
///   {
///     const OpObserverGuard guard(log);
///     loss = ...;                                  // under autocast
///   }
///   std::cout << log;
class OpLog : public OpObserver {
 public:
  explicit OpLog(NamedModel model = {}) : model_(std::move(model)) {}

  /// The calls in their order. Conversions by autocast are part of the call that needed them.
  const std::vector<OpRecord>& records() const { return records_; }
  /// One row for each op and dtype, in the order of their first calls, over all steps or in one.
  std::vector<OpSummary> summary() const;
  std::vector<OpSummary> summary(std::int64_t step) const;
  /// The calls of a step that a float32 operand promoted: see OpRecord::is_promoted().
  std::vector<OpRecord> promoted(std::int64_t step) const;
  /// Later calls belong to the next step.
  void next_step() { ++step_; }
  /// The present step, 0 at first.
  std::int64_t step() const { return step_; }
  /// Forgets all calls and begins with step 0.
  void clear();

  void ran(const OpCall& call) override;

 private:
  OperandCast cast_of(const Tensor& given, const Tensor& read);

  NamedModel model_;
  std::int64_t step_ = 0;
  std::vector<OpRecord> records_;
  // Conversions that no op has read: the index of the record, and the copy.
  struct Conversion {
    std::size_t record;
    std::weak_ptr<detail::TensorImpl> copy;
  };
  std::vector<Conversion> conversions_;
};

/// Prints the summary as a table, then each kind of promoted call once.
std::ostream& operator<<(std::ostream& out, const OpLog& log);

}  // namespace halfgrad::amp
