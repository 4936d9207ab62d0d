#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/amp/inspector/named_model.h>
#include <halfgrad/autograd/tensor.h>
#include <halfgrad/core/math/philox.h>

namespace halfgrad::amp {

/// Why a step has gradients that are inf or NaN.
enum class OverflowCause : std::uint8_t {
  none,            ///< all gradients are finite
  scale_too_high,  ///< they are finite at a smaller scale
  forward,         ///< the loss itself is inf or NaN
  backward,        ///< a derivative is inf or NaN at scale 1 too
};

/// A tensor that an op read or made where the first inf or NaN appeared.
struct OperandRange {
  std::string name;  ///< the parameter's name, or "operand 1", "gradient of the result"
  DType dtype = kFloat;
  double largest = 0;          ///< largest finite magnitude
  std::int64_t nonfinite = 0;  ///< number of elements that are inf or NaN
};

/// The first inf or NaN of a step, and what made it.
struct Overflow {
  OverflowCause cause = OverflowCause::none;
  double scale = 1;  ///< the loss scale
  /// The largest power of two at which all gradients were finite, in another pass over the same
  /// batch. For scale_too_high only.
  std::optional<double> safe_scale = {};
  std::string op = {};      ///< the op whose forward or backward made it
  std::string module = {};  ///< dotted path of the module that called the op; "" outside modules
  std::string what = {};    ///< "the result", "the gradient of encoder.2.weight (operand 1)"
  /// The line of the user's code that called the op: "train.cpp:41 in train(int)". Without the line
  /// if the program was compiled without -g, and "" if the function is not known either.
  std::string source = {};
  /// For scale_too_high: the largest magnitude there, at scale 1.
  double magnitude_unscaled = 0;
  std::vector<OperandRange> ranges = {};

  explicit operator bool() const { return cause != OverflowCause::none; }
};

struct FindOverflowOptions {
  /// Scale of the step to explain: scaler.get_scale() before its update().
  double scale = 65536;
  /// State of default_generator() when the step began, so that dropout drops the same elements. By
  /// default the state at the call.
  std::optional<RandomKey> random = {};
  /// Returns the line of the user's code that runs, for Overflow::source. It is called once, while
  /// the op in question runs. By default the innermost call outside the namespace halfgrad is
  /// looked up by the program addr2line.
  std::function<std::string()> source = {};
};

/// Runs the forward and backward passes of a step again, with the scale and with scale 1, and finds
/// the op at which the first inf or NaN appeared.
///
///   const amp::Overflow overflow = amp::find_overflow(
///       amp::NamedModel(model), [&] {
///         const amp::Autocast autocast(kCUDA);
///         return cross_entropy(model(x), y);
///       }, {.scale = scaler.get_scale()});
///   std::cout << explain(overflow);
///
/// `loss` returns a tensor of one element, unscaled. It runs once if all gradients are finite, and
/// at most four times for the causes forward and backward. For scale_too_high a binary search of
/// the safe scale runs it more often: seven times in all for a scale of 65536. Gradients, buffers
/// and default_generator() are as before afterwards; `loss` must not change other state. Throws
/// std::invalid_argument for a loss of more elements, for one that needs no gradient, and for a
/// scale that is not finite and positive.
Overflow find_overflow(const NamedModel& model, const std::function<Tensor()>& loss,
                       const FindOverflowOptions& options = {});

/// One sentence: "the scale is too high: the gradient of encoder.2.weight (operand 1) overflowed in
/// linear's backward in encoder.2; its largest magnitude is 6.1 at scale 1, and the scale is 65536;
/// the largest safe scale is 8192". Below it stand the line of the user's code, if it is known, and
/// the ranges of the operands.
std::string explain(const Overflow& overflow);

}  // namespace halfgrad::amp
