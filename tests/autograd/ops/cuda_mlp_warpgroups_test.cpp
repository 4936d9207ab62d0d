// The gradients of mlp and mlp_cross_entropy by warpgroups: against the ops layer by layer, and
// with the bits of the other kernels where sums are exact; inf and NaN, launches, captures.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/amp/autocast.h>
#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/mlp.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/cuda/kernels/mlp.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/core/launches.h>
#include <halfgrad/core/random.h>
#include <halfgrad/tests/autograd/ops/mlp_comparison.h>
#include <halfgrad/tests/autograd/ops/mlp_layers.h>
#include <halfgrad/tests/autograd/ops/mlp_loss_case.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad {
namespace {

using backends::cuda::allow_warpgroup_mlp;
using backends::cuda::set_allow_warpgroup_mlp;

constexpr DType k16Bits[] = {kHalf, kBFloat16};

class MlpByWarpgroupsOnCuda : public OnCuda {
 protected:
  void SetUp() override {
    OnCuda::SetUp();
    if (IsSkipped()) return;
    const Tensor x = zeros({1, 64}).to(kCUDA).to(kHalf);
    if (!detail::mlp_fits_warpgroups({.x = x.array(), .weights = {x.array()}, .biases = {{}}})) {
      GTEST_SKIP() << "warpgroups need a GPU of compute capability 9.0";
    }
    set_allow_warpgroup_mlp(true);
  }
  void TearDown() override { set_allow_warpgroup_mlp(false); }
};

TEST(WarpgroupMlp, IsOffByDefault) { EXPECT_FALSE(allow_warpgroup_mlp()); }

std::int64_t launches_of(const auto& f) {
  const std::int64_t before = detail::launches;
  f();
  return detail::launches - before;
}

// The gradients of all operands for dy.
std::vector<Tensor> gradients_of(const Layers& layers, const Tensor& x, const Tensor& dy) {
  std::vector<Tensor> inputs = layers.all();
  inputs.push_back(x);
  return autograd::grad({layers.as_one_op(x)}, inputs, {dy});
}

// The shapes touch every edge: tiles of 128 rows and halves of them, one group of layers and
// several, a narrow last layer and a wide one, and rows that are not aligned to 16 bytes.
TEST_F(MlpByWarpgroupsOnCuda, IsLinearAndReluLayerByLayer) {
  manual_seed(31);
  for (const DType dtype : k16Bits) {
    expect_layer_by_layer({64, 64, 64, 64, 64, 10}, 255, dtype, kCUDA);
    expect_layer_by_layer({64, 64, 64, 64, 64, 10}, 130, dtype, kCUDA, false);
    expect_layer_by_layer({8, 40, 40, 40, 40, 40, 40, 9}, 100, dtype, kCUDA);
    expect_layer_by_layer({64, 40, 64, 64}, 77, dtype, kCUDA);
    expect_layer_by_layer({64, 64, 64, 64, 64, 64}, 70, dtype, kCUDA);
    expect_layer_by_layer({64, 64}, 300, dtype, kCUDA);
    expect_layer_by_layer({33, 16}, 300, dtype, kCUDA);
    expect_layer_by_layer({64, 17}, 1, dtype, kCUDA);
    expect_layer_by_layer({128, 128, 128, 128, 128, 10}, 150, dtype, kCUDA);
    expect_layer_by_layer({128, 128, 128, 128, 128, 10}, 40, dtype, kCUDA, false);
    expect_layer_by_layer({128, 100, 128, 11}, 77, dtype, kCUDA);
    expect_layer_by_layer({3, 65}, 1, dtype, kCUDA);
    expect_layer_by_layer({128, 1}, 65, dtype, kCUDA);
    expect_layer_by_layer({72, 8, 97, 128}, 300, dtype, kCUDA);
  }
}

// More rows than an emulated or a real GPU takes at once: a block adds several tiles.
TEST_F(MlpByWarpgroupsOnCuda, AddsTheTilesOfABlock) {
  manual_seed(32);
  expect_layer_by_layer({40, 64, 10}, 132 * 128 + 200, kHalf, kCUDA);
  expect_layer_by_layer({72, 10}, 132 * 128 + 70, kBFloat16, kCUDA);
}

TEST_F(MlpByWarpgroupsOnCuda, HasTheBitsOfItsTwoOps) {
  manual_seed(33);
  for (const DType dtype : k16Bits) {
    expect_bits_of_two_ops({{64, 64, 64, 10}, 150, dtype, kCUDA}, 64);
    expect_bits_of_two_ops({{64, 64, 64, 64}, 100, dtype, kCUDA});
    expect_bits_of_two_ops({{16, 60}, 40, dtype, kCUDA});
    expect_bits_of_two_ops({{40, 1}, 40, dtype, kCUDA, dtype, false});
    expect_bits_of_two_ops({{128, 128, 128, 10}, 140, dtype, kCUDA}, 1024);
    expect_bits_of_two_ops({{128, 100, 128, 17}, 20, dtype, kCUDA});
    const amp::Autocast autocast(kCUDA, {.dtype = dtype});
    expect_bits_of_two_ops({{64, 64, 64, 10}, 140, kFloat, kCUDA}, 1024);
    expect_bits_of_two_ops({{5, 90, 3}, 20, kFloat, kCUDA}, 1024);
  }
}

// Small integers: every sum is exact, so its order is no excuse for a difference.
TEST_F(MlpByWarpgroupsOnCuda, HasTheBitsOfTheOtherKernelsWhereSumsAreExact) {
  manual_seed(34);
  const auto integers = [](const Shape& sizes, std::int64_t range, DType dtype) {
    return (randint(2 * range + 1, sizes) - range).to(kCUDA).to(dtype);
  };
  const std::vector<std::vector<std::int64_t>> cases = {
      {64, 64, 64, 64, 64, 10}, {33, 50, 64, 20, 17}, {128, 128, 10}, {96, 128, 70, 65, 16}};
  for (const DType dtype : k16Bits) {
    for (const auto& sizes : cases) {
      Layers layers;
      for (std::size_t l = 0; l + 1 < sizes.size(); ++l) {
        // One weight of a row in 16 is not 0, so that h stays small.
        Tensor w = zeros({sizes[l + 1], sizes[l]});
        for (std::int64_t i = 0; i < sizes[l + 1]; ++i) {
          for (std::int64_t k = i % 16; k < sizes[l]; k += 16) w[i][k].fill_(k % 3 == 0 ? -1 : 1);
        }
        layers.weights.push_back(w.to(kCUDA).to(dtype).requires_grad_());
        layers.biases.push_back(integers({sizes[l + 1]}, 1, dtype).requires_grad_());
      }
      const Tensor x = integers({150, sizes.front()}, 1, dtype).requires_grad_();
      const Tensor dy = integers({150, sizes.back()}, 1, dtype);
      const std::vector<Tensor> actual = gradients_of(layers, x, dy);
      set_allow_warpgroup_mlp(false);
      const std::vector<Tensor> expected = gradients_of(layers, x, dy);
      set_allow_warpgroup_mlp(true);
      double largest = 0;
      for (std::size_t i = 0; i < actual.size(); ++i) {
        const std::vector<double> a = actual[i].to_vector<double>();
        ASSERT_EQ(a, expected[i].to_vector<double>()) << i << " of " << sizes[0];
        for (const double each : a) largest = std::fmax(largest, std::abs(each));
      }
      EXPECT_GT(largest, 0);
      EXPECT_LT(largest, 1 << 20);  // far below 2^24: sums in float were exact
    }
  }
}

TEST_F(MlpByWarpgroupsOnCuda, KeepsInfAndNaNWhereTheyBelong) {
  manual_seed(35);
  for (const DType dtype : k16Bits) {
    for (const std::int64_t width : {64, 128}) {
      const Layers layers = draw_layers({width, width, width, 10}, dtype, kCUDA, true);
      Tensor x = randn({100, width});
      x[7][3].fill_(INFINITY);
      x[9][3].fill_(NAN);
      const Tensor there = x.to(kCUDA).to(dtype).requires_grad_(),
                   dy = ones({100, 10}).to(kCUDA).to(dtype);
      const std::vector<Tensor> actual = gradients_of(layers, there, dy);
      set_allow_warpgroup_mlp(false);
      const std::vector<Tensor> expected = gradients_of(layers, there, dy);
      set_allow_warpgroup_mlp(true);
      for (std::size_t i = 0; i < actual.size(); ++i) {
        EXPECT_EQ(isfinite(actual[i]).to_vector<bool>(), isfinite(expected[i]).to_vector<bool>());
      }
    }
  }
}

// The rows of a tile that are outside the batch have infinite activations, and the others do not.
TEST_F(MlpByWarpgroupsOnCuda, ARowOutsideTheBatchAddsNothing) {
  for (const std::int64_t width : {64, 128}) {
    const Layers layers = draw_layers({width, width, width, 4}, kHalf, kCUDA, true);
    layers.weights[0].detach().fill_(-32768 / static_cast<double>(width));
    layers.biases[0].detach().fill_(32768);
    layers.weights[1].detach().fill_(4);
    layers.biases[1].detach().fill_(1);
    const Tensor x = ones({5, width}).to(kCUDA).to(kHalf);
    for (const Tensor& gradient : autograd::grad({sum(layers.as_one_op(x))}, layers.all())) {
      EXPECT_TRUE(all(isfinite(gradient)).item<bool>()) << width;
    }
  }
}

// A launch for each group of layers, one for h where a group begins, and the sum of the blocks.
TEST_F(MlpByWarpgroupsOnCuda, TakesNoProductOfItsOwnForALayer) {
  const struct {
    std::vector<std::int64_t> sizes;
    std::int64_t launches;
  } cases[] = {{{64, 64, 64, 64, 64, 10}, 2}, {{64, 64, 64, 64, 64, 64}, 4},
               {{128, 128, 128, 10}, 2},      {{128, 128, 128, 128, 128, 10}, 4},
               {{128, 128, 128, 128}, 4},     {{128, 128, 128, 128, 128, 128}, 6}};
  for (const auto& [sizes, launches] : cases) {
    const Layers layers = draw_layers(sizes, kHalf, kCUDA, true);
    const Tensor x = randn({256, sizes.front()}).to(kCUDA).to(kHalf),
                 target = zeros({256}, {.dtype = kLong, .device = kCUDA});
    const Tensor loss = mlp_cross_entropy(x, layers.weights, layers.biases, target);
    const Tensor dloss = ones({}, {.device = kCUDA}).to(loss.dtype());
    EXPECT_EQ(launches_of([&] { autograd::grad({loss}, layers.all(), {dloss}); }), launches);
  }
}

// The others take what these kernels do not: gelu, float32, and layers of at most 32 features.
TEST_F(MlpByWarpgroupsOnCuda, LeavesOtherNetworksToTheOtherKernels) {
  manual_seed(36);
  expect_layer_by_layer({64, 64, 10}, 40, kHalf, kCUDA, true, "gelu");
  expect_layer_by_layer({16, 32, 5}, 40, kHalf, kCUDA);
  expect_layer_by_layer({64, 64, 10}, 40, kFloat, kCUDA);
}

TEST_F(MlpByWarpgroupsOnCuda, IsPartOfACapture) {
  manual_seed(37);
  const LossCase of({128, 128, 128, 128, 128, 10}, 130, kHalf, kCUDA);
  of.one_op().backward();
  const Bits expected = of.gradients();
  Graph graph(kCUDA);
  graph.capture([&] { of.one_op().backward(); });
  graph.replay();
  expect_equal(of.gradients(), expected);
}

}  // namespace
}  // namespace halfgrad
