// mlp against linear and its activation, layer by layer.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/linear_activation.h>
#include <halfgrad/autograd/mlp.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/launches.h>
#include <halfgrad/core/random.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/tests/autograd/ops/mlp_layers.h>
#include <halfgrad/tests/devices.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad {
namespace {

// Compares sums that were added in another order, in float or double. A 16-bit sum may be rounded
// to a neighbour, and so may the activations that it adds up: `roundings` roundoffs of the largest
// element.
void expect_same_sums(const Tensor& actual, const Tensor& expected, double terms,
                      double roundings = 2) {
  const std::vector<double> a = actual.to_vector<double>(), e = expected.to_vector<double>();
  ASSERT_EQ(a.size(), e.size());
  double largest = 0;
  for (const double each : e) largest = std::fmax(largest, std::abs(each));
  const DType sums = actual.dtype() == kDouble ? kDouble : kFloat;
  double bound = terms * roundoff(sums) * largest;
  if (is_reduced(actual.dtype())) bound += roundings * roundoff(actual.dtype()) * largest;
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], e[i], bound) << i;
}

constexpr const char* kActivations[] = {"relu", "gelu", "gelu_tanh"};

// NaN is equal to itself, and 0 to -0.
void expect_same_elements(const Tensor& actual, const Tensor& expected) {
  const std::vector<double> a = actual.to_vector<double>(), e = expected.to_vector<double>();
  ASSERT_EQ(a.size(), e.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_TRUE(a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i])))
        << i << ": " << a[i] << " and " << e[i];
  }
}

void compare(const std::vector<std::int64_t>& sizes, std::int64_t rows, DType dtype, Device device,
             bool biases = true, const std::string& activation = "relu") {
  SCOPED_TRACE(activation + " " + std::string(name(dtype)) + " rows " + std::to_string(rows) +
               " first " + std::to_string(sizes[0]) + " last " + std::to_string(sizes.back()) +
               " layers " + std::to_string(sizes.size() - 1) + (biases ? " biases" : ""));
  const Layers layers = draw_layers(sizes, dtype, device, biases, activation);
  const Tensor x = randn({rows, sizes.front()}).to(device).to(dtype).requires_grad_();
  const Tensor dy = randn({rows, sizes.back()}).to(device).to(dtype);
  std::vector<Tensor> inputs = layers.all();
  inputs.push_back(x);
  const Tensor expected = layers.one_by_one(x);
  const std::vector<Tensor> expected_gradients = autograd::grad({expected}, inputs, {dy});
  const Tensor actual = layers.as_one_op(x);
  const std::vector<Tensor> gradients = autograd::grad({actual}, inputs, {dy});
  const bool same_order = device.is_cpu();  // cuBLASLt adds products in an order of its own
  const double terms = 64 * static_cast<double>(sizes.size());
  if (same_order) {
    EXPECT_EQ(actual.to_vector<double>(), expected.to_vector<double>());
    EXPECT_EQ(gradients.back().to_vector<double>(), expected_gradients.back().to_vector<double>());
  } else {
    expect_same_sums(actual, expected, terms, 8);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(gradients[i].dtype(), expected_gradients[i].dtype());
    expect_same_sums(gradients[i], expected_gradients[i], terms + static_cast<double>(rows),
                     same_order ? 2 : 8);
  }
}

TEST(Mlp, IsLinearAndItsActivationLayerByLayer) {
  manual_seed(1);
  for (const char* const f : kActivations) {
    for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
      compare({3, 2}, 1, dtype, get_default_device(), true, f);
      compare({5, 7, 3}, 255, dtype, get_default_device(), true, f);
      compare({64, 64, 64, 10}, 600, dtype, get_default_device(), true, f);
      compare({64, 64, 64, 10}, 600, dtype, get_default_device(), false, f);
      compare({8, 4, 4, 4, 4, 4, 4, 4, 4, 4, 1}, 257, dtype, get_default_device(), true, f);
    }
  }
}

// A second gradient, of the gradients' sum of squares, against finite differences.
TEST(Mlp, CanBeDifferentiatedTwice) {
  manual_seed(2);
  for (const char* const f : kActivations) {
    const Layers layers = draw_layers({3, 5, 2}, kDouble, get_default_device(), true, f);
    const Tensor x = randn({4, 3}, {.dtype = kDouble}).requires_grad_();
    std::vector<Tensor> inputs = layers.all();
    inputs.push_back(x);
    const auto squares = [&](const Tensor& y) {
      const std::vector<Tensor> gradients =
          autograd::grad({sum(y * y * y)}, inputs, {}, {.create_graph = true});
      Tensor total = zeros({}, {.dtype = kDouble});
      for (const Tensor& gradient : gradients) total = total + sum(gradient * gradient);
      return total;
    };
    const std::vector<Tensor> fused = autograd::grad({squares(layers.as_one_op(x))}, inputs);
    const std::vector<Tensor> expected = autograd::grad({squares(layers.one_by_one(x))}, inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) expect_same_sums(fused[i], expected[i], 100);
  }
}

TEST(Mlp, HasTheSameBitsWithAnyNumberOfThreads) {
  manual_seed(3);
  const Layers layers = draw_layers({16, 32, 4}, kFloat, get_default_device(), true);
  const Tensor x = randn({3000, 16});
  const int threads = get_num_threads();
  std::vector<std::vector<float>> first;
  for (const int count : {1, 2, 5}) {
    set_num_threads(count);
    const std::vector<Tensor> gradients =
        autograd::grad({sum(mlp(x, layers.weights, layers.biases))}, layers.all());
    std::vector<std::vector<float>> bits;
    for (const Tensor& gradient : gradients) bits.push_back(gradient.to_vector<float>());
    if (first.empty()) first = bits;
    EXPECT_EQ(bits, first) << count << " threads";
  }
  set_num_threads(threads);
}

using MlpOnCuda = OnCuda;

// The shapes touch every edge: rows and features around blocks of 16, tiles of 128 rows, several
// groups of layers, widths of 32, 64 and 128, and rows that are not aligned to 16 bytes.
TEST_F(MlpOnCuda, IsLinearAndReluLayerByLayer) {
  manual_seed(4);
  for (const DType dtype : {kHalf, kBFloat16}) {
    compare({3, 2}, 1, dtype, kCUDA);
    compare({16, 32, 5}, 129, dtype, kCUDA);
    compare({20, 17, 33, 1}, 300, dtype, kCUDA);
    compare({64, 64, 64, 64, 64, 10}, 255, dtype, kCUDA);
    compare({64, 64, 64, 64, 64, 10}, 130, dtype, kCUDA, false);
    compare({8, 40, 40, 40, 40, 40, 40, 9}, 100, dtype, kCUDA);
    compare({64, 40, 64, 64}, 77, dtype, kCUDA);
    compare({64, 64}, 300, dtype, kCUDA);
    compare({64, 33, 64}, 300, dtype, kCUDA);
    compare({128, 128, 128, 128, 128, 10}, 150, dtype, kCUDA);
    compare({128, 100, 128, 11}, 77, dtype, kCUDA);
    compare({128, 100, 128, 11}, 77, dtype, kCUDA, false);
    compare({3, 65}, 1, dtype, kCUDA);
    compare({72, 8, 97, 128}, 300, dtype, kCUDA);
  }
}

// Five narrow layers are what a block has shared memory for; more, and wider ones, store z.
TEST_F(MlpOnCuda, IsLinearAndGeluLayerByLayer) {
  manual_seed(9);
  for (const char* const f : {"gelu", "gelu_tanh"}) {
    for (const DType dtype : {kHalf, kBFloat16}) {
      compare({3, 2}, 1, dtype, kCUDA, true, f);
      compare({16, 32, 5}, 129, dtype, kCUDA, true, f);
      compare({20, 17, 33, 1}, 150, dtype, kCUDA, true, f);
      compare({64, 64, 64, 64, 64, 10}, 130, dtype, kCUDA, false, f);
      compare({8, 40, 40, 40, 40, 40, 40, 9}, 100, dtype, kCUDA, true, f);
      compare({8, 9, 9, 9, 9, 9, 9, 9, 9}, 20, dtype, kCUDA, true, f);
      compare({128, 100, 128, 11}, 77, dtype, kCUDA, true, f);
      compare({3, 65}, 1, dtype, kCUDA, true, f);
      compare({129, 100, 11}, 20, dtype, kCUDA, true, f);  // composed
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
  compare({16, 32, 5}, 40, kFloat, kCUDA);
  compare({129, 100, 128, 11}, 77, kHalf, kCUDA);
  compare({128, 128, 128, 128, 128, 128, 128, 128}, 20, kHalf, kCUDA);  // too many weights
  compare({8, 4, 4, 4, 4, 4, 4, 4, 4, 1}, 20, kHalf, kCUDA);
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
  for (const char* const f : kActivations) {
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

TEST(Mlp, RefusesOperandsThatDoNotFit) {
  const Tensor x = zeros({2, 3}), w = zeros({4, 3}), b = zeros({4});
  const auto refused = [](const auto& f) { return message_of<std::invalid_argument>(f); };
  EXPECT_EQ(refused([&] { mlp(x, {}); }), "mlp: expected at least one weight, got none");
  EXPECT_EQ(refused([&] {
              mlp(x, {w, w});
            }),
            "mlp: expected weight 1 of shape [out, 4], got [4, 3]");
  EXPECT_EQ(refused([&] { mlp(x, {w}, {zeros({3})}); }),
            "mlp: expected bias 0 of shape [4], got [3]");
  EXPECT_EQ(refused([&] {
              mlp(x, {w}, {b, b});
            }),
            "mlp: expected no biases or one for each of 1 weights, got 2; an undefined tensor "
            "leaves one out");
  EXPECT_EQ(refused([&] { mlp(x, {w.to(kHalf)}); }),
            "mlp: expected operands of one dtype, got float32 for the input and another in layer "
            "0");
  EXPECT_EQ(refused([&] { mlp(x, {w}, {b}, "tanh"); }),
            "mlp: expected activation to be 'relu', 'gelu' or 'gelu_tanh', got 'tanh'");
}

TEST(Mlp, TakesAnyLeadingDimensionsAndAnEmptyBatch) {
  manual_seed(7);
  const Layers layers = draw_layers({3, 5, 2}, kFloat, get_default_device(), true);
  for (const Shape& sizes : {Shape{3}, Shape{2, 4, 3}, Shape{0, 3}, Shape{2, 0, 3}}) {
    const Tensor x = randn(sizes).requires_grad_();
    const Tensor y = mlp(x, layers.weights, layers.biases), z = layers.one_by_one(x);
    EXPECT_EQ(y.sizes(), z.sizes());
    EXPECT_EQ(y.to_vector<float>(), z.to_vector<float>());
    EXPECT_EQ(autograd::grad({sum(y)}, {x})[0].to_vector<float>(),
              autograd::grad({sum(z)}, {x})[0].to_vector<float>());
  }
}

}  // namespace
}  // namespace halfgrad
