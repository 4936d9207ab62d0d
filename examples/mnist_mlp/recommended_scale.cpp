#include "recommended_scale.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <halfgrad/amp/inspector/underflow_ledger.h>
#include <halfgrad/data/batch_stream.h>
#include <halfgrad/programs/terminal.h>

#include "trainer.h"

namespace hg = halfgrad;

namespace {

constexpr int kBatches = 4;
constexpr double kHighest = 0x1p40;  // the first scale at which gradients are observed
constexpr double kFactor = 0x1p8;    // between one such scale and the next

bool overflows(const hg::amp::UnderflowLedger& ledger) {
  return std::ranges::any_of(ledger.ranges(),
                             [](const auto& range) { return range.scaled.nonfinite() > 0; });
}

/// Runs the backward pass of the first batches with a factor on the loss.
hg::amp::UnderflowLedger observed(const Task& task, const Trainer& trainer, std::uint64_t seed,
                                  double scale) {
  hg::amp::UnderflowLedger ledger{hg::amp::NamedModel(trainer.model())};
  hg::data::BatchStream batches(
      hg::data::DataLoader(task.train, {.batch_size = task.batch, .shuffle = true, .seed = seed}));
  for (int i = 0; i < kBatches; ++i) {
    const auto [x, y] = batches.next();
    trainer.optimizer().zero_grad();
    const auto guard = ledger.observe(scale);
    const hg::Tensor loss = trainer.forward(x.to(task.device), y.to(task.device)).loss;
    (loss.to(hg::kFloat32) * scale).backward();
  }
  return ledger;
}

}  // namespace

double recommended_scale(const Task& task, const Precision& precision, std::uint64_t seed) {
  hg::manual_seed(seed);
  const Trainer trainer(task, precision);
  // A gradient that is 0 in float16 tells nothing: the largest scale without an inf shows the most.
  double scale = kHighest;
  hg::amp::UnderflowLedger ledger = observed(task, trainer, seed, scale);
  for (; overflows(ledger) && scale > 1; ledger = observed(task, trainer, seed, scale)) {
    scale /= kFactor;
  }
  const hg::amp::Recommendation best = ledger.recommend();
  programs::print_wrapped(
      fmt::format("{}: the gradients of the first {} batches allow the scale 2^{:g} = {:g}. It "
                  "lifts {} values above 2^-24, float16's smallest; {} stay below.\n",
                  precision.name, kBatches, std::log2(best.scale), best.scale, best.saved,
                  best.lost),
      2);
  return best.scale;
}
