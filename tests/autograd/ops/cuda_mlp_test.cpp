// mlp's kernels against linear and its activation, layer by layer; inf and NaN, launches.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/mlp.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/launches.h>
#include <halfgrad/core/random.h>
#include <halfgrad/tests/autograd/ops/mlp_comparison.h>
#include <halfgrad/tests/autograd/ops/mlp_layers.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad {
namespace {

// NaN is equal to itself, and 0 to -0.
void expect_same_elements(const Tensor& actual, const Tensor& expected) {
  const std::vector<double> a = actual.to_vector<double>(), e = expected.to_vector<double>();
  ASSERT_EQ(a.size(), e.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_TRUE(a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i])))
        << i << ": " << a[i] << " and " << e[i];
  }
}

using MlpOnCuda = OnCuda;

// The shapes touch every edge: rows and features around blocks of 16, tiles of 128 rows, several
// groups of layers, widths of 32, 64 and 128, and rows that are not aligned to 16 bytes.
TEST_F(MlpOnCuda, IsLinearAndReluLayerByLayer) {
  manual_seed(4);
  for (const DType dtype : {kHalf, kBFloat16}) {
    expect_layer_by_layer({3, 2}, 1, dtype, kCUDA);
    expect_layer_by_layer({16, 32, 5}, 129, dtype, kCUDA);
    expect_layer_by_layer({20, 17, 33, 1}, 300, dtype, kCUDA);
    expect_layer_by_layer({64, 64, 64, 64, 64, 10}, 255, dtype, kCUDA);
    expect_layer_by_layer({64, 64, 64, 64, 64, 10}, 130, dtype, kCUDA, false);
    expect_layer_by_layer({8, 40, 40, 40, 40, 40, 40, 9}, 100, dtype, kCUDA);
    expect_layer_by_layer({64, 40, 64, 64}, 77, dtype, kCUDA);
    expect_layer_by_layer({64, 64}, 300, dtype, kCUDA);
    expect_layer_by_layer({64, 33, 64}, 300, dtype, kCUDA);
    expect_layer_by_layer({128, 128, 128, 128, 128, 10}, 150, dtype, kCUDA);
    expect_layer_by_layer({128, 100, 128, 11}, 77, dtype, kCUDA);
    expect_layer_by_layer({128, 100, 128, 11}, 77, dtype, kCUDA, false);
    expect_layer_by_layer({3, 65}, 1, dtype, kCUDA);
    expect_layer_by_layer({72, 8, 97, 128}, 300, dtype, kCUDA);
  }
}

// More rows than a GPU with one multiprocessor takes at once, as tools/emulate-tests has one: a
// block computes several tiles, in the same shared memory.
TEST_F(MlpOnCuda, AddsTheTilesOfABlock) {
  manual_seed(10);
  constexpr std::int64_t kRows = 17 * 128 + 70;
  expect_layer_by_layer({20, 17, 9}, kRows, kHalf, kCUDA);
  expect_layer_by_layer({8, 9, 9, 9, 9, 9, 9, 9}, kRows, kBFloat16, kCUDA);  // two groups of layers
  expect_layer_by_layer({16, 24, 5}, kRows, kHalf, kCUDA, true, "gelu");
  expect_layer_by_layer({72, 8, 10}, kRows, kHalf, kCUDA);
}

// Five narrow layers are what a block has shared memory for; more, and wider ones, store z.
TEST_F(MlpOnCuda, IsLinearAndGeluLayerByLayer) {
  manual_seed(9);
  for (const char* const f : {"gelu", "gelu_tanh"}) {
    for (const DType dtype : {kHalf, kBFloat16}) {
      expect_layer_by_layer({3, 2}, 1, dtype, kCUDA, true, f);
      expect_layer_by_layer({16, 32, 5}, 129, dtype, kCUDA, true, f);
      expect_layer_by_layer({20, 17, 33, 1}, 150, dtype, kCUDA, true, f);
      expect_layer_by_layer({64, 64, 64, 64, 64, 10}, 130, dtype, kCUDA, false, f);
      expect_layer_by_layer({8, 40, 40, 40, 40, 40, 40, 9}, 100, dtype, kCUDA, true, f);
      expect_layer_by_layer({8, 9, 9, 9, 9, 9, 9, 9, 9}, 20, dtype, kCUDA, true, f);
      expect_layer_by_layer({128, 100, 128, 11}, 77, dtype, kCUDA, true, f);
      expect_layer_by_layer({3, 65}, 1, dtype, kCUDA, true, f);
      expect_layer_by_layer({129, 100, 11}, 20, dtype, kCUDA, true, f);  // composed
    }
  }
}

// The kernels round z, h and dz as the ops between them would: with products that are exact in any
// order, all bits are equal.
TEST_F(MlpOnCuda, RoundsAroundAGeluAsItsOpDoes) {
  for (const char* const f : {"gelu", "gelu_tanh"}) {
    for (const DType dtype : {kHalf, kBFloat16}) {
      for (const std::int64_t width : {16, 48, 80}) {
        SCOPED_TRACE(std::string(f) + " " + std::string(name(dtype)) + " " + std::to_string(width));
        Layers layers;
        layers.activation = f;
        for (int l = 0; l < 3; ++l) {  // one term in each sum
          const Tensor w = zeros({width, width});
          for (std::int64_t i = 0; i < width; ++i)
            w[i][(i + l) % width].fill_(l == 1 ? -1.5 : 0.75);
          layers.weights.push_back(w.to(kCUDA).to(dtype).requires_grad_());
        }
        Tensor x = (arange(40 * width).to(kFloat).reshape({40, width}) - 600) * 0.0123;
        const double specials[] = {INFINITY, -INFINITY, NAN, -0.0, 65504, -65504, 1e-7, -1e-7};
        for (std::int64_t i = 0; const double each : specials) x[i++][3].fill_(each);
        const Tensor there = x.to(kCUDA).to(dtype).requires_grad_();
        const Tensor dy = ((arange(40 * width).to(kFloat).reshape({40, width}) - 900) * 0.0071)
                              .to(kCUDA)
                              .to(dtype);
        const Tensor y = layers.as_one_op(there), expected = layers.one_by_one(there);
        expect_same_elements(y, expected);
        expect_same_elements(autograd::grad({y}, {there}, {dy})[0],
                             autograd::grad({expected}, {there}, {dy})[0]);
      }
    }
  }
}

TEST_F(MlpOnCuda, ComposesWhatTheKernelsDoNotTake) {
  manual_seed(5);
  expect_layer_by_layer({16, 32, 5}, 40, kFloat, kCUDA);
  expect_layer_by_layer({129, 100, 128, 11}, 77, kHalf, kCUDA);
  expect_layer_by_layer({128, 128, 128, 128, 128, 128, 128, 128}, 20, kHalf,
                        kCUDA);  // too many weights
  expect_layer_by_layer({8, 4, 4, 4, 4, 4, 4, 4, 4, 1}, 20, kHalf, kCUDA);
}

// A row outside the batch adds nothing to a gradient, not even 0 * inf; and NaN passes relu.
TEST_F(MlpOnCuda, KeepsInfAndNaNWhereTheyBelong) {
  manual_seed(6);
  for (const DType dtype : {kHalf, kBFloat16}) {
    SCOPED_TRACE(name(dtype));
    const Layers layers = draw_layers({16, 16, 16, 4}, dtype, kCUDA, true);
    Tensor x = randn({100, 16});
    x[7][3].fill_(std::numeric_limits<float>::infinity());
    x[9][3].fill_(std::nan(""));
    const Tensor there = x.to(kCUDA).to(dtype).requires_grad_();
    const auto finite = [](const Tensor& t) { return isfinite(t).to_vector<bool>(); };
    std::vector<Tensor> inputs = layers.all();
    inputs.push_back(there);
    const Tensor y = mlp(there, layers.weights, layers.biases), z = layers.one_by_one(there);
    EXPECT_EQ(finite(y), finite(z));
    const std::vector<Tensor> gradients = autograd::grad({sum(y)}, inputs),
                              expected = autograd::grad({sum(z)}, inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_EQ(finite(gradients[i]), finite(expected[i])) << i;
    }
    layers.biases[0].detach().fill_(std::numeric_limits<float>::infinity());
    layers.weights[2].detach().fill_(0);
    const Tensor ok = randn({5, 16}).to(kCUDA).to(dtype);
    const auto of = [&](const Tensor& out) {
      return autograd::grad({sum(out)}, {layers.biases[2]})[0].to_vector<float>();
    };
    EXPECT_EQ(of(mlp(ok, layers.weights, layers.biases)), of(layers.one_by_one(ok)));
  }
}

// A kernel computes whole blocks of 16 rows. Here the rows outside the batch, whose x is 0, have
// infinite activations, and the others do not. Their gradient 0 must not become 0 * inf in a sum.
TEST_F(MlpOnCuda, ARowOutsideTheBatchAddsNothing) {
  manual_seed(8);
  for (const char* const f : kMlpActivations) {
    for (const DType dtype : {kHalf, kBFloat16}) {
      const double root = dtype == kHalf ? 128 : std::ldexp(1, 63);
      const Layers layers = draw_layers({16, 16, 16, 4}, dtype, kCUDA, true, f);
      layers.weights[0].detach().fill_(-root / 8);  // -root^2, in all, for x = root / 2
      layers.biases[0].detach().fill_(root * root);
      layers.weights[1].detach().fill_(4);
      layers.biases[1].detach().fill_(1);
      const Tensor x = full({5, 16}, root / 2).to(kCUDA).to(dtype);
      const std::vector<Tensor> gradients =
          autograd::grad({sum(layers.as_one_op(x))}, layers.all());
      for (const Tensor& gradient : gradients) {
        EXPECT_TRUE(all(isfinite(gradient)).item<bool>()) << f << " " << name(dtype);
      }
    }
  }
}

// Backward: a kernel and its sums for narrow layers; for wider ones a kernel, and a product for
// each layer.
TEST_F(MlpOnCuda, TakesFewLaunches) {
  const auto launches_of = [](const auto& f) {
    const std::int64_t before = detail::launches;
    f();
    return detail::launches - before;
  };
  for (const std::int64_t width : {64, 65, 128}) {
    SCOPED_TRACE(width);
    const Layers layers = draw_layers({width, width, width, 10}, kHalf, kCUDA, true);
    const Tensor x = randn({256, width}).to(kCUDA).to(kHalf),
                 dy = ones({256, 10}).to(kCUDA).to(kHalf),
                 target = zeros({256}, {.dtype = kLong, .device = kCUDA});
    Tensor y;
    EXPECT_EQ(launches_of([&] { y = mlp(x, layers.weights, layers.biases); }), 1);
    const std::int64_t backward = width == 64 ? 2 : 4;
    EXPECT_EQ(launches_of([&] { autograd::grad({y}, layers.all(), {dy}); }), backward);
    const Tensor loss = mlp_cross_entropy(x, layers.weights, layers.biases, target);
    const Tensor dloss = ones({}, {.device = kCUDA}).to(loss.dtype());
    EXPECT_EQ(launches_of([&] { autograd::grad({loss}, layers.all(), {dloss}); }), backward);
  }
}

}  // namespace
}  // namespace halfgrad
