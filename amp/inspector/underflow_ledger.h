#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <halfgrad/amp/inspector/exponent_histogram.h>
#include <halfgrad/amp/inspector/named_model.h>
#include <halfgrad/autograd/op_observer.h>

namespace halfgrad::amp {

/// The gradients of one place, a parameter or an activation, in one step or in several.
struct GradientRange {
  std::string name;  ///< "encoder.2.weight", or "relu in encoder.2"
  bool is_parameter = true;
  DType dtype = kFloat;             ///< the dtype of the gradients
  ExponentHistogram scaled = {};    ///< the gradients as they are: multiplied by the loss scale
  ExponentHistogram unscaled = {};  ///< divided by the scale

  /// Values that float16 would have lost without the scale, and holds with it.
  std::int64_t saved() const { return lost_without_scale() - lost_with_scale(); }
  /// Values below 2^-24, float16's smallest, without and with the scale.
  std::int64_t lost_without_scale() const;
  std::int64_t lost_with_scale() const;
  /// Values from 2^-24 to 2^-14, where float16 has fewer than 11 bits.
  std::int64_t subnormal_without_scale() const;
  std::int64_t subnormal_with_scale() const;
  /// Share of the finite values that are zero, with the scale: float16 has lost them, or they were
  /// zero before.
  double share_of_zeros() const;
  /// Powers of two from the largest gradient to 65504: how far the scale could grow.
  /// Infinity without a finite gradient other than zero.
  double headroom_bits() const;
};

/// A scale for the gradients that a ledger has seen.
struct Recommendation {
  /// The largest power of two with which every gradient is at most 65504. Gradients in float32 do
  /// not limit it, unless none is in 16 bits: then the parameters' do.
  double scale = 1;
  std::int64_t saved = 0;  ///< values that it lifts above 2^-24, of those below without a scale
  std::int64_t lost = 0;   ///< values that stay below 2^-24
  /// Places whose gradients do not fit float16 at this scale: more than 1 % of those that are not
  /// zero stay below 2^-24. bfloat16 has nearly the range of float32, and 8 bits instead of 11.
  std::vector<std::string> want_bfloat16;
  /// Places whose gradients do not fit bfloat16 either: more than 1 % stay below 2^-133, its
  /// smallest value. They are not in want_bfloat16.
  std::vector<std::string> want_float32;
};

struct UnderflowLedgerOptions {
  std::int64_t every = 1;  ///< observe() measures the first of this many calls
};

/// Histograms of a model's gradients, to see what float16 loses and what the loss scale saves:
///
///   amp::UnderflowLedger ledger{amp::NamedModel(model), {.every = 100}};
///   for (...) {
///     const OpObserverGuard guard = ledger.observe(scaler.get_scale());
///     ...                                         // forward, under autocast
///     scaler.scale(loss).backward();
///   }
///   std::cout << ledger;
///
/// A parameter that autocast copied to 16 bits is listed with the copy's gradient, which float16
/// rounded. Gradients that were zero in float16 already cannot be told from those that it flushed:
/// observe at a large scale. It copies every gradient to the host: measure one step of a hundred in
/// a long run.
class UnderflowLedger : public OpObserver {
 public:
  /// Throws std::invalid_argument unless options.every is positive.
  explicit UnderflowLedger(NamedModel model = {}, const UnderflowLedgerOptions& options = {});

  /// Observes this thread's ops, forward and backward of a loss that is multiplied by `scale`, to
  /// the end of the scope. Of each `every` calls it measures the first; in others an observer
  /// outside is notified as before. Throws std::invalid_argument unless the scale is finite and
  /// positive.
  [[nodiscard]] OpObserverGuard observe(double scale);
  /// Number of calls of observe() that were measured.
  std::int64_t measured() const { return (calls_ + options_.every - 1) / options_.every; }

  /// Parameters in the order of the model, then activations in the order of their gradients.
  std::vector<GradientRange> ranges() const;
  Recommendation recommend() const;

  void ran(const OpCall& call) override;
  void ran_backward(const BackwardCall& call) override;
  void received(const Tensor& leaf, const Tensor& gradient) override;

 private:
  /// The owner of a gradient: a parameter, or the result of an op.
  struct Place {
    std::string name;
    bool is_parameter;
  };

  void add(const Place& place, const Tensor& gradient);
  /// The places whose gradients are in 16 bits; if there are none, all parameters.
  std::vector<GradientRange> ranges_in_16_bits() const;

  NamedModel model_;
  UnderflowLedgerOptions options_;
  std::int64_t calls_ = 0;  // number of calls of observe()
  double scale_ = 1;
  std::unordered_map<const detail::Node*, Place> places_;  // for the nodes of this pass
  std::unordered_set<std::string> copied_;  // parameters with a 16-bit copy in this pass
  std::vector<GradientRange> parameters_, activations_;
};

/// Prints a table: one line for each place, counts without and with the scale.
std::ostream& operator<<(std::ostream& out, const UnderflowLedger& ledger);

}  // namespace halfgrad::amp
