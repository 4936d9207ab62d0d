#include <functional>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/autocast.h>
#include <halfgrad/amp/custom_function.h>
#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/checkpoint.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>
#include <halfgrad/tests/devices.h>

/// A checkpoint's second forward runs in the region of the first.
namespace halfgrad::amp {
namespace {

using Values = std::vector<double>;

/// The state of autocast in a forward.
struct Region {
  bool enabled;
  DType dtype;
  bool cache_enabled;
  friend bool operator==(const Region&, const Region&) = default;
};
Region region() {
  return {is_autocast_enabled(default_device_type()), get_autocast_dtype(default_device_type()),
          is_autocast_cache_enabled()};
}

struct Segment {
  Tensor weight = randn({16, 16}, {.requires_grad = true});
  std::vector<Region>* seen = nullptr;

  Tensor operator()(const Tensor& x) const {
    if (seen != nullptr) seen->push_back(region());
    return tanh(linear(relu(linear(x, weight)), weight));
  }
};

struct Gradients {
  Values x, weight;
  friend bool operator==(const Gradients&, const Gradients&) = default;
};

Gradients gradients(const Segment& segment, bool checkpointed, const AutocastOptions& forward,
                    std::optional<AutocastOptions> backward = std::nullopt) {
  manual_seed(5);
  const Tensor x = randn({4, 16}, {.requires_grad = true});
  Tensor loss;
  {
    const Autocast autocast(default_device_type(), forward);
    loss = sum(checkpointed ? utils::checkpoint(segment, x) : segment(x));
  }
  std::optional<Autocast> around;
  if (backward) around.emplace(default_device_type(), *backward);
  const auto found = autograd::grad({loss}, {x, segment.weight});
  return {found[0].to_vector<double>(), found[1].to_vector<double>()};
}

TEST(CheckpointInARegion, GivesTheBitsOfThePlainRegion) {
  const Segment segment;
  for (const DType dtype : {kHalf, kBFloat16}) {
    for (const bool cache : {true, false}) {
      const AutocastOptions forward{.dtype = dtype, .cache_enabled = cache};
      const Gradients plain = gradients(segment, false, forward);
      EXPECT_EQ(gradients(segment, true, forward), plain);
      EXPECT_EQ(gradients(segment, true, forward, AutocastOptions{.dtype = kHalf}), plain);
      EXPECT_NE(gradients(segment, true, {.enabled = false}), plain);
    }
  }
}

TEST(CheckpointInARegion, TheSecondForwardSeesTheFirstOnesRegion) {
  std::vector<Region> seen;
  Segment segment;
  segment.seen = &seen;
  const AutocastOptions other{.dtype = kHalf, .cache_enabled = true};
  gradients(segment, true, {.dtype = kBFloat16, .cache_enabled = false}, other);
  gradients(segment, true, {.dtype = kBFloat16, .enabled = false}, other);
  const Region on{true, kBFloat16, false}, off{false, kBFloat16, true};
  EXPECT_EQ(seen, (std::vector<Region>{on, on, off, off}));
  EXPECT_FALSE(is_autocast_enabled(default_device_type()));
}

/// Its backward runs in the region of the call of backward, also in a checkpoint.
struct Watched : autograd::Function<Watched> {
  static inline Region in_backward{};
  static Tensor forward(autograd::AutogradContext*, Tensor x) { return x * 1.0; }
  static autograd::variable_list backward(autograd::AutogradContext*,
                                          autograd::variable_list grads) {
    in_backward = region();
    return grads;
  }
};

TEST(CheckpointInARegion, UserFunctionsRunBackwardInTheCallersRegion) {
  const Tensor x = ones({2}, {.requires_grad = true});
  Tensor loss;
  {
    const Autocast autocast(default_device_type(), kBFloat16);
    loss = sum(utils::checkpoint([](const Tensor& t) { return Watched::apply(t); }, x));
  }
  for (const bool enabled : {true, false}) {
    const Autocast autocast(default_device_type(), kHalf, enabled);
    loss.backward({}, /*retain_graph=*/true);
    EXPECT_EQ(Watched::in_backward, (Region{enabled, kHalf, true}));
  }
}

}  // namespace
}  // namespace halfgrad::amp
