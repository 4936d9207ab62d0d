// mlp against linear and its activation, layer by layer.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/mlp.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/tests/autograd/ops/mlp_comparison.h>
#include <halfgrad/tests/autograd/ops/mlp_layers.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad {
namespace {

TEST(Mlp, IsLinearAndItsActivationLayerByLayer) {
  manual_seed(1);
  for (const char* const f : kMlpActivations) {
    for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
      expect_layer_by_layer({3, 2}, 1, dtype, get_default_device(), true, f);
      expect_layer_by_layer({5, 7, 3}, 255, dtype, get_default_device(), true, f);
      expect_layer_by_layer({64, 64, 64, 10}, 600, dtype, get_default_device(), true, f);
      expect_layer_by_layer({64, 64, 64, 10}, 600, dtype, get_default_device(), false, f);
      expect_layer_by_layer({8, 4, 4, 4, 4, 4, 4, 4, 4, 4, 1}, 257, dtype, get_default_device(),
                            true, f);
    }
  }
}

// A second gradient, of the gradients' sum of squares, against finite differences.
TEST(Mlp, CanBeDifferentiatedTwice) {
  manual_seed(2);
  for (const char* const f : kMlpActivations) {
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
    for (std::size_t i = 0; i < inputs.size(); ++i) expect_near_sums(fused[i], expected[i], 100);
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
