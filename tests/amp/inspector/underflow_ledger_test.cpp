#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/autocast.h>
#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/amp/inspector/op_log.h>
#include <halfgrad/amp/inspector/underflow_ledger.h>
#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad::amp {
namespace {

/// A parameter whose gradient is the given values times the scale of the loss.
class Weight : public nn::Module {
 public:
  explicit Weight(std::int64_t size)
      : weight(register_parameter("weight", halfgrad::zeros({size}))) {}
  Tensor weight;
};

std::vector<double> powers(int first, int last) {
  std::vector<double> numbers;
  for (int e = first; e <= last; ++e) numbers.push_back(std::exp2(e));
  return numbers;
}

Tensor row(const std::vector<double>& numbers) { return tensor(numbers, kFloat); }

TEST(UnderflowLedger, CountsGradientsWithKnownExponents) {
  const std::vector<double> gradients = powers(-45, -1);  // one for each exponent
  const Weight model(static_cast<std::int64_t>(gradients.size()));
  for (const int log2_scale : {0, 1, 8, 16}) {
    const double scale = std::exp2(log2_scale);
    UnderflowLedger ledger{NamedModel(model)};
    {
      const OpObserverGuard guard = ledger.observe(scale);
      mul(mul(model.weight, row(gradients)).sum(), scale).backward();
    }
    const GradientRange range = ledger.ranges().at(0);
    EXPECT_EQ(range.name, "weight");
    EXPECT_EQ(range.scaled.total(), 45);
    EXPECT_EQ(range.lost_without_scale(), 45 - 24);  // 2^-45 to 2^-25
    EXPECT_EQ(range.lost_with_scale(), 45 - 24 - log2_scale);
    EXPECT_EQ(range.saved(), log2_scale);
    EXPECT_EQ(range.subnormal_without_scale(), 10);
    EXPECT_EQ(range.subnormal_with_scale(), 10);
    EXPECT_EQ(range.headroom_bits(), std::log2(65504 / std::exp2(log2_scale - 1)));
  }
}

TEST(UnderflowLedger, RecommendsTheLargestPowerOfTwoThatFits) {
  const Weight model(3);
  for (const double largest : {1.0, 0.999, 1.001, 3e-5, 1.5 * 0x1p-20}) {
    UnderflowLedger ledger{NamedModel(model)};
    {
      const OpObserverGuard guard = ledger.observe(1);
      mul(model.weight, row({largest, 0x1p-30, 0x1p-60})).sum().backward();
    }
    const Recommendation best = ledger.recommend();
    EXPECT_EQ(std::exp2(std::ilogb(best.scale)), best.scale);
    const double stored = static_cast<float>(largest);
    EXPECT_LE(stored * best.scale, 65504);
    EXPECT_GT(stored * best.scale * 2, 65504);
    EXPECT_EQ(best.saved, 1) << "2^-30 is lifted above 2^-24";
    EXPECT_EQ(best.lost, 1) << "2^-60 is not";
  }
}

TEST(UnderflowLedger, NamesPlacesThatWantBFloat16) {
  const Weight model(4);
  UnderflowLedger ledger{NamedModel(model)};
  {
    const OpObserverGuard guard = ledger.observe(1);
    mul(model.weight, row({1, 0x1p-50, 0x1p-51, 0x1p-52})).sum().backward();
  }
  EXPECT_EQ(ledger.recommend().want_bfloat16, std::vector<std::string>{"weight"});
}

TEST(UnderflowLedger, NamesPlacesThatWantFloat32) {
  const Weight model(4);
  UnderflowLedger ledger{NamedModel(model)};
  {
    const OpObserverGuard guard = ledger.observe(1);
    mul(model.weight, row({60000, 0x1p-140, 0x1p-141, 0x1p-142})).sum().backward();
  }
  EXPECT_TRUE(ledger.recommend().want_bfloat16.empty());
  EXPECT_EQ(ledger.recommend().want_float32, std::vector<std::string>{"weight"});
}

TEST(UnderflowLedger, MeasuresOneCallOfMany) {
  const Weight model(2);
  UnderflowLedger ledger{NamedModel(model), {.every = 3}};
  OpLog other;
  const OpObserverGuard other_guard(other);
  for (int step = 0; step < 7; ++step) {
    const OpObserverGuard guard = ledger.observe(1);
    mul(model.weight, row({1, 2})).sum().backward();
  }
  EXPECT_EQ(ledger.measured(), 3);  // calls 0, 3 and 6
  EXPECT_EQ(ledger.ranges().at(0).scaled.total(), 3 * 2);
  EXPECT_EQ(std::ranges::count(other.records(), "mul", &OpRecord::op), 7) << "another sees all";
  EXPECT_THROW(UnderflowLedger(NamedModel(), {.every = 0}), std::invalid_argument);
}

TEST(UnderflowLedger, NamesActivationsByOpAndModule) {
  const auto model = nn::Sequential{nn::Linear(4, 4), nn::ReLU(), nn::Linear(4, 2)};
  UnderflowLedger ledger{NamedModel(model)};
  GradScaler scaler({.init_scale = 1024});
  {
    const OpObserverGuard guard = ledger.observe(1024);
    Tensor loss;
    {
      const Autocast autocast(default_device_type());
      loss = model(ones({2, 4})).to(kFloat).sum();
    }
    scaler.scale(loss).backward();
  }
  std::vector<std::string> names;
  for (const GradientRange& range : ledger.ranges()) names.push_back(range.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"0.weight", "0.bias", "2.weight", "2.bias", "mul", "sum",
                                      "to", "linear in 2", "relu in 1", "linear in 0"}));
  for (const GradientRange& range : ledger.ranges()) {
    const bool is_half = range.is_parameter || range.name.find(" in ") != std::string::npos;
    EXPECT_EQ(range.dtype, is_half ? kHalf : kFloat) << range.name;
  }
  std::ostringstream text;
  text << ledger;
  EXPECT_NE(text.str().find("linear in 2"), std::string::npos);
}

// Gradients of 1e-9 vanish in float16; at the recommended scale they equal those of float32.
TEST(UnderflowLedger, ItsScaleSavesAStuckStep) {
  const auto model = nn::Sequential{nn::Linear(8, 8), nn::ReLU(), nn::Linear(8, 1)};
  const Tensor x = ones({4, 8});
  const auto gradients = [&](double scale, bool enabled, UnderflowLedger* ledger) {
    for (const Tensor& parameter : model.parameters()) parameter.set_grad({});
    Tensor loss;
    const auto pass = [&] {
      {
        const Autocast autocast(default_device_type(), {.enabled = enabled});
        loss = mul(model(x).to(kFloat).sum(), 1e-9);
      }
      mul(loss, scale).backward();
    };
    if (ledger != nullptr) {
      const OpObserverGuard guard = ledger->observe(scale);
      pass();
    } else {
      pass();
    }
    return div(model.parameters()[0].grad(), scale);
  };
  const double exact = gradients(1, false, nullptr).abs().sum().item<double>();
  ASSERT_GT(exact, 0);
  EXPECT_EQ(gradients(1, true, nullptr).abs().sum().item<double>(), 0) << "all are flushed to zero";
  UnderflowLedger ledger{NamedModel(model)};
  static_cast<void>(gradients(65536, true, &ledger));
  const Recommendation best = ledger.recommend();
  EXPECT_GT(best.scale, 65536);
  EXPECT_NEAR(gradients(best.scale, true, nullptr).abs().sum().item<double>(), exact, 0.01 * exact);
}

TEST(UnderflowLedger, RefusesABadScale) {
  UnderflowLedger ledger;
  for (const double scale : {0.0, -1.0, HUGE_VAL, std::nan("")}) {
    EXPECT_THROW(static_cast<void>(ledger.observe(scale)), std::invalid_argument);
  }
}

}  // namespace
}  // namespace halfgrad::amp
