#include <halfgrad/amp/inspector/underflow_ledger.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iomanip>
#include <iterator>
#include <limits>
#include <ostream>
#include <sstream>

#include <halfgrad/autograd/graph/node.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::amp {
namespace {

constexpr double kShareThatMayBeLost = 0.01;

constexpr int kBFloat16SmallestExponent = -133;

// Values of `unscaled` that are below 2^smallest after multiplication by the power of two `scale`.
std::int64_t lost_at(const ExponentHistogram& unscaled, double scale,
                     int smallest = kHalfSmallestExponent) {
  return unscaled.between(ExponentHistogram::kFirst, smallest - std::ilogb(scale));
}

bool are_too_many(std::int64_t lost, const ExponentHistogram& numbers) {
  return static_cast<double>(lost) > kShareThatMayBeLost * static_cast<double>(numbers.nonzero());
}

std::int64_t lost(const ExponentHistogram& numbers) { return lost_at(numbers, 1); }

std::int64_t subnormal(const ExponentHistogram& numbers) {
  return numbers.between(kHalfSmallestExponent, kHalfNormalExponent);
}

}  // namespace

std::int64_t GradientRange::lost_without_scale() const { return lost(unscaled); }
std::int64_t GradientRange::lost_with_scale() const { return lost(scaled); }
std::int64_t GradientRange::subnormal_without_scale() const { return subnormal(unscaled); }
std::int64_t GradientRange::subnormal_with_scale() const { return subnormal(scaled); }

double GradientRange::share_of_zeros() const {
  const auto finite = static_cast<double>(scaled.total() - scaled.nonfinite());
  return finite == 0 ? 0 : static_cast<double>(scaled.zeros()) / finite;
}

double GradientRange::headroom_bits() const {
  if (scaled.largest() == 0) return std::numeric_limits<double>::infinity();
  return std::log2(kHalfLargest / scaled.largest());
}

UnderflowLedger::UnderflowLedger(NamedModel model, const UnderflowLedgerOptions& options)
    : model_(std::move(model)), options_(options) {
  if (options.every < 1) {
    halfgrad::detail::fail("UnderflowLedger", "expected every >= 1, got {}", options.every);
  }
}

OpObserverGuard UnderflowLedger::observe(double scale) {
  if (!(std::isfinite(scale) && scale > 0)) {
    halfgrad::detail::fail("UnderflowLedger", "expected a finite, positive scale, got {}", scale);
  }
  if (calls_++ % options_.every != 0) return OpObserverGuard::of_nobody();
  scale_ = scale;
  places_.clear();
  copied_.clear();
  return OpObserverGuard(*this);
}

void UnderflowLedger::ran(const OpCall& call) {
  if (!call.result.requires_grad() || call.result.is_leaf()) return;
  const std::string module = model_.running_module();
  Place place{std::string(call.op) + (module.empty() ? "" : " in " + module), false};
  // The 16-bit copy of a parameter gets the parameter's gradient first.
  const std::string copied = call.operands.size() == 1 ? model_.name_of(call.operands[0]) : "";
  if (!copied.empty() && is_reduced(call.result.dtype())) {
    place = {copied, true};
    copied_.insert(copied);
  }
  places_[call.result.grad_fn().get()] = std::move(place);
}

void UnderflowLedger::ran_backward(const BackwardCall& call) {
  const auto place = places_.find(&call.node);
  if (place == places_.end()) return;
  for (const Tensor& gradient : call.grads) {
    if (gradient.defined()) add(place->second, gradient);
  }
}

void UnderflowLedger::received(const Tensor& leaf, const Tensor& gradient) {
  const std::string name = model_.name_of(leaf);
  if (!name.empty() && !copied_.contains(name)) add({name, true}, gradient);
}

void UnderflowLedger::add(const Place& place, const Tensor& gradient) {
  std::vector<GradientRange>& ranges = place.is_parameter ? parameters_ : activations_;
  auto range = std::find_if(ranges.begin(), ranges.end(), [&](const GradientRange& known) {
    return known.name == place.name && known.dtype == gradient.dtype();
  });
  if (range == ranges.end()) {
    ranges.push_back({place.name, place.is_parameter, gradient.dtype()});
    range = ranges.end() - 1;
  }
  range->scaled.add(gradient.array());
  range->unscaled.add(gradient.array(), scale_);
}

std::vector<GradientRange> UnderflowLedger::ranges() const {
  std::vector<GradientRange> ranges;
  for (const auto& [name, parameter] : model_.parameters()) {
    for (const GradientRange& range : parameters_) {
      if (range.name == name) ranges.push_back(range);
    }
  }
  ranges.insert(ranges.end(), activations_.begin(), activations_.end());
  return ranges;
}

std::vector<GradientRange> UnderflowLedger::ranges_in_16_bits() const {
  std::vector<GradientRange> all = ranges(), reduced;
  std::copy_if(all.begin(), all.end(), std::back_inserter(reduced),
               [](const GradientRange& range) { return is_reduced(range.dtype); });
  if (!reduced.empty()) return reduced;
  std::erase_if(all, [](const GradientRange& range) { return !range.is_parameter; });
  return all;
}

Recommendation UnderflowLedger::recommend() const {
  Recommendation result;
  const std::vector<GradientRange> relevant = ranges_in_16_bits();
  double largest = 0;
  for (const GradientRange& range : relevant) largest = std::max(largest, range.unscaled.largest());
  if (largest == 0) return result;
  result.scale = std::exp2(std::floor(std::log2(kHalfLargest / largest)));
  for (const GradientRange& range : relevant) {
    const std::int64_t still_lost = lost_at(range.unscaled, result.scale);
    result.lost += still_lost;
    result.saved += lost(range.unscaled) - still_lost;
    if (!are_too_many(still_lost, range.unscaled)) continue;
    const std::int64_t in_bfloat16 =
        lost_at(range.unscaled, result.scale, kBFloat16SmallestExponent);
    const bool neither = are_too_many(in_bfloat16, range.unscaled);
    (neither ? result.want_float32 : result.want_bfloat16).push_back(range.name);
  }
  return result;
}

std::ostream& operator<<(std::ostream& out, const UnderflowLedger& ledger) {
  const auto row = [&out](const auto& name, const auto& dtype, const auto& total, const auto& zeros,
                          const auto& lost_without, const auto& lost_with, const auto& subnormal,
                          const auto& headroom) {
    out << std::left << std::setw(32) << name << std::setw(9) << dtype << std::right
        << std::setw(10) << total << std::setw(9) << zeros << std::setw(14) << lost_without
        << std::setw(11) << lost_with << std::setw(11) << subnormal << std::setw(10) << headroom
        << '\n';
  };
  row("gradient of", "dtype", "values", "zeros", "lost unscaled", "lost", "subnormal", "headroom");
  for (const GradientRange& range : ledger.ranges()) {
    std::ostringstream headroom;  // in float32 no gradient is near the limit
    if (range.dtype == kHalf)
      headroom << std::fixed << std::setprecision(1) << range.headroom_bits();
    row(range.name, name(range.dtype), range.scaled.total(), range.scaled.zeros(),
        range.lost_without_scale(), range.lost_with_scale(), range.subnormal_with_scale(),
        headroom.str());
  }
  const Recommendation best = ledger.recommend();
  out << "A scale of " << halfgrad::detail::message_part(best.scale)
      << " is the largest power of two that keeps these gradients at "
      << "most 65504. It lifts " << best.saved
      << " of the values below 2^-24 into float16's range; " << best.lost << " stay below.\n";
  for (const std::string& place : best.want_bfloat16) {
    out << place << ": the range of its gradients is wider than float16's; bfloat16 holds them.\n";
  }
  for (const std::string& place : best.want_float32) {
    out << place << ": the range of its gradients is wider than bfloat16's; float32 holds them.\n";
  }
  return out;
}

}  // namespace halfgrad::amp
