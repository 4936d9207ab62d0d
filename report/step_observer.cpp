#include <halfgrad/report/step_observer.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <halfgrad/autograd/grad_mode.h>

namespace halfgrad::report {
namespace {

constexpr std::size_t kMostSentences = 20;

}  // namespace

StepObserver::StepObserver(const amp::NamedModel& model, std::int64_t step, double scale)
    : step_(step),
      scale_(std::isfinite(scale) && scale > 0 ? scale : 1),
      log_(model),
      ledger_(model) {
  const OpObserverGuard sets_the_scale = ledger_.observe(scale_);
}

void StepObserver::ran(const OpCall& call) {
  if (!call.in_backward && !GradMode::is_enabled()) return;
  log_.ran(call);
  ledger_.ran(call);
}

Ops StepObserver::ops() const {
  Ops ops{.step = step_, .rows = log_.summary(), .promoted = {}};
  for (const amp::OpRecord& record : log_.records()) {
    if (!record.is_promoted()) continue;
    std::string sentence = explain(record);
    if (std::ranges::find(ops.promoted, sentence) != ops.promoted.end()) continue;
    if (ops.promoted.size() == kMostSentences) break;
    ops.promoted.push_back(std::move(sentence));
  }
  return ops;
}

Exponents StepObserver::exponents() const {
  Exponents result{
      .step = step_, .scale = scale_, .places = {}, .recommendation = ledger_.recommend()};
  amp::GradientRange activations{.name = "all activations", .is_parameter = false};
  for (const amp::GradientRange& range : ledger_.ranges()) {
    if (range.is_parameter) {
      result.places.push_back(range);
      continue;
    }
    activations.dtype = range.dtype;
    activations.scaled.add(range.scaled);
    activations.unscaled.add(range.unscaled);
  }
  if (activations.scaled.total() > 0) result.places.push_back(std::move(activations));
  return result;
}

}  // namespace halfgrad::report
