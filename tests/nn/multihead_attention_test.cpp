#include <halfgrad/nn/multihead_attention.h>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>
#include <halfgrad/testing/random_tensor.h>
#include <nlohmann/json.hpp>

namespace halfgrad::nn {
namespace {

using nlohmann::json;
using Doubles = std::vector<double>;

Tensor tensor_from(const json& stored) {
  const Tensor values = tensor_of(stored["values"].get<Doubles>(),
                                  Shape(stored["shape"].get<std::vector<std::int64_t>>()));
  return (stored.value("bool", false) ? values.to(kBool) : values).to(get_default_device());
}

void expect_close_values(const Tensor& actual, const json& expected, const std::string& what) {
  SCOPED_TRACE(what);
  const Doubles values = actual.to_vector<double>();
  const auto wanted = expected.get<Doubles>();
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], wanted[i], 1e-12 * std::max(1.0, std::abs(wanted[i]))) << i;
  }
}

MultiheadAttention layer_of(const json& options) {
  MultiheadAttentionArguments arguments{.bias = options.value("bias", true),
                                        .add_bias_kv = options.value("add_bias_kv", false),
                                        .add_zero_attn = options.value("add_zero_attn", false),
                                        .batch_first = options.value("batch_first", false),
                                        .dtype = kDouble};
  if (options.contains("kdim")) arguments.kdim = options["kdim"].get<std::int64_t>();
  if (options.contains("vdim")) arguments.vdim = options["vdim"].get<std::int64_t>();
  return MultiheadAttention(6, 2, arguments);
}

void load(const MultiheadAttention& layer, const json& state) {
  const auto parameters = layer.named_parameters();
  ASSERT_EQ(parameters.size(), state.size());
  for (const auto& [name, stored] : state.items()) {
    ASSERT_TRUE(parameters.contains(name)) << name;
    EXPECT_EQ(parameters[name].sizes(), tensor_from(stored).sizes()) << name;
    parameters[name].array().copy_(tensor_from(stored).array());
  }
}

TEST(MultiheadAttention, ComputesWhatPyTorchComputes) {
  std::ifstream stream(HALFGRAD_SOURCE_DIR "/tests/expected/multihead_attention.json");
  const json file = json::parse(stream);
  ASSERT_EQ(file["cases"].size(), 14);
  for (const json& c : file["cases"]) {
    SCOPED_TRACE(c["name"].get<std::string>());
    const MultiheadAttention layer = layer_of(c["options"]);
    load(layer, c["state"]);
    std::vector<Tensor> inputs;
    for (const json& input : c["inputs"]) {
      inputs.push_back(tensor_from(input).detach().requires_grad_());
    }
    const auto mask = [&](const char* name) {
      return c["masks"].contains(name) ? tensor_from(c["masks"][name]) : Tensor();
    };
    const auto [output, weights] =
        layer(inputs[0], inputs[inputs.size() > 1 ? 1 : 0], inputs[inputs.size() > 1 ? 2 : 0],
              mask("key_padding_mask"), c["need_weights"].get<bool>(), mask("attn_mask"),
              c["average_attn_weights"].get<bool>());
    EXPECT_EQ(output.sizes(), tensor_from(c["output"]).sizes());
    expect_close_values(output, c["output"]["values"], "output");
    ASSERT_EQ(weights.defined(), !c["weights"].is_null());
    if (weights.defined()) {
      EXPECT_EQ(weights.sizes(), tensor_from(c["weights"]).sizes());
      expect_close_values(weights, c["weights"]["values"], "weights");
    }
    output.backward(tensor_of(c["cotangent"].get<Doubles>(), output.sizes()).to(output.device()));
    for (const auto& [name, parameter] : layer.named_parameters()) {
      expect_close_values(parameter.grad(), c["gradients"][name], name);
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      expect_close_values(inputs[i].grad(), c["input_gradients"][i], "input " + std::to_string(i));
    }
  }
}

TEST(MultiheadAttention, HasPyTorchsNamesAndOrder) {
  std::vector<std::string> names;
  const MultiheadAttention layer(6, 2), other(6, 2, {.kdim = 5}),
      learned(6, 2, {.bias = false, .add_bias_kv = true});
  for (const auto& [name, parameter] : layer.named_parameters()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"in_proj_weight", "in_proj_bias", "out_proj.weight",
                                             "out_proj.bias"}));
  names.clear();
  for (const auto& [name, parameter] : other.named_parameters()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"q_proj_weight", "k_proj_weight", "v_proj_weight",
                                             "in_proj_bias", "out_proj.weight", "out_proj.bias"}));
  names.clear();
  for (const auto& [name, parameter] : learned.named_parameters()) names.push_back(name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"in_proj_weight", "bias_k", "bias_v", "out_proj.weight"}));
}

TEST(MultiheadAttention, DropsWeightsInTrainingOnly) {
  MultiheadAttention layer(8, 2, {.dropout = 0.5});
  const Tensor x = rand({5, 3, 8});
  for (const bool need_weights : {false, true}) {
    const auto run = [&] {
      manual_seed(4);
      return std::get<0>(layer(x, x, x, Tensor(), need_weights));
    };
    layer.train();
    const Tensor trained = run();
    EXPECT_TRUE(equal(trained, run()));
    layer.eval();
    EXPECT_FALSE(equal(trained, run()));
    EXPECT_TRUE(allclose(run(), std::get<0>(layer(x, x, x, Tensor(), !need_weights)), 1e-5, 1e-6));
  }
}

// The weights and the op drop the same keys from the same seed.
TEST(MultiheadAttention, GivesTheSameOutputWithAndWithoutWeights) {
  const MultiheadAttention layer(8, 2, {.dropout = 0.3, .batch_first = true});
  const Tensor x = rand({2, 5, 8}), hidden = rand({5, 5}) > 0.8;
  manual_seed(4);
  const Tensor with = std::get<0>(layer(x, x, x, Tensor(), true, hidden));
  manual_seed(4);
  EXPECT_TRUE(allclose(with, std::get<0>(layer(x, x, x, Tensor(), false, hidden)), 1e-5, 1e-6));
}

TEST(MultiheadAttention, IsClonedWithItsParameters) {
  const MultiheadAttention layer(8, 2);
  const auto copy = std::dynamic_pointer_cast<MultiheadAttention>(layer.clone());
  ASSERT_NE(copy, nullptr);
  const Tensor x = rand({5, 3, 8});
  EXPECT_TRUE(equal(std::get<0>(layer(x, x, x)), std::get<0>((*copy)(x, x, x))));
  copy->out_proj.bias.array().fill_(7);
  EXPECT_EQ(layer.out_proj.bias.sum().item(), 0);
}

TEST(MultiheadAttention, DrawsWeightsWithinGlorotsBound) {
  const MultiheadAttention layer(64, 4);
  const double bound = std::sqrt(6.0 / (64 + 3 * 64));
  const double largest = abs(layer.in_proj_weight).max().item();
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.9 * bound);
  EXPECT_EQ(abs(layer.in_proj_bias).sum().item(), 0);
  EXPECT_EQ(abs(layer.out_proj.bias).sum().item(), 0);
}

TEST(MultiheadAttention, RefusesOtherShapes) {
  EXPECT_THROW(MultiheadAttention(6, 4), std::invalid_argument);
  EXPECT_THROW(MultiheadAttention(0, 1), std::invalid_argument);
  const MultiheadAttention layer(6, 2);
  const Tensor x = rand({3, 2, 6}), keys = rand({4, 2, 6});
  const auto refused = [&](const Tensor& q, const Tensor& k, const Tensor& v,
                           const Tensor& padding = {}, const Tensor& mask = {}) {
    for (const bool need_weights : {false, true}) {
      EXPECT_THROW(layer(q, k, v, padding, need_weights, mask), std::invalid_argument);
    }
  };
  refused(x, keys, x);
  refused(rand({3, 2, 5}), keys, keys);
  refused(rand({3, 1, 6}), keys, keys);
  refused(x[0][0], keys, keys);
  refused(x, keys, keys, zeros({4, 2}, {.dtype = kBool}));
  refused(x, keys, keys, {}, zeros({4, 3}, {.dtype = kBool}));
  refused(x, keys, keys, {}, zeros({2, 3, 4}, {.dtype = kBool}));
}

}  // namespace
}  // namespace halfgrad::nn
