#include <halfgrad/nn/transformer.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>
#include <halfgrad/nn/activation.h>
#include <nlohmann/json.hpp>

namespace halfgrad::nn {
namespace {

using nlohmann::json;
using Doubles = std::vector<double>;

Tensor stored_tensor(const json& stored) {
  Doubles elements;
  for (const json& value : stored["values"]) {
    elements.push_back(value == "-inf" ? -std::numeric_limits<double>::infinity()
                                       : value.get<double>());
  }
  const Tensor values =
      tensor(elements, Shape(stored["shape"].get<std::vector<std::int64_t>>()), {.dtype = kDouble});
  return (stored.value("bool", false) ? values.to(kBool) : values).to(get_default_device());
}

void expect_values(const Tensor& actual, const json& expected, const std::string& what) {
  SCOPED_TRACE(what);
  const Doubles values = actual.to_vector<double>();
  const auto wanted = expected.get<Doubles>();
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], wanted[i], 1e-11 * std::max(1.0, std::abs(wanted[i]))) << i;
  }
}

TransformerLayerArguments layer_arguments(const json& options) {
  TransformerLayerArguments arguments{.dim_feedforward = 3,
                                      .dropout = 0,
                                      .layer_norm_eps = options.value("layer_norm_eps", 1e-5),
                                      .batch_first = options.value("batch_first", false),
                                      .norm_first = options.value("norm_first", false),
                                      .bias = options.value("bias", true),
                                      .dtype = kDouble};
  if (options.contains("activation")) arguments.activation = GELU();
  return arguments;
}

struct Loaded {
  Module module;
  std::function<Tensor(const std::vector<Tensor>&)> run;
};

/// The module of a case with a function that calls it.
Loaded module_of(const json& c) {
  const auto mask = [masks = c["masks"]](const char* name) {
    return masks.contains(name) ? stored_tensor(masks[name]) : Tensor();
  };
  const auto run_encoder = [mask](const auto& module) {
    return Loaded{module, [module, mask](const std::vector<Tensor>& x) {
                    return module(x[0], mask("src_mask"), mask("src_key_padding_mask"));
                  }};
  };
  const auto run_decoder = [mask](const auto& module) {
    return Loaded{module, [module, mask](const std::vector<Tensor>& x) {
                    return module(x[0], x[1], mask("tgt_mask"), mask("memory_mask"),
                                  mask("tgt_key_padding_mask"), mask("memory_key_padding_mask"));
                  }};
  };
  const TransformerLayerArguments options = layer_arguments(c["options"]);
  const LayerNorm norm({4}, {.dtype = kDouble});
  const std::string kind = c["module"];
  if (kind == "encoder layer") return run_encoder(TransformerEncoderLayer(4, 2, options));
  if (kind == "decoder layer") return run_decoder(TransformerDecoderLayer(4, 2, options));
  if (kind == "encoder") {
    return run_encoder(TransformerEncoder(TransformerEncoderLayer(4, 2, options), 2, norm));
  }
  if (kind == "decoder") {
    return run_decoder(TransformerDecoder(TransformerDecoderLayer(4, 2, options), 2, norm));
  }
  const Transformer module(4, 2,
                           {.num_encoder_layers = 2,
                            .num_decoder_layers = 1,
                            .dim_feedforward = 3,
                            .dropout = 0,
                            .batch_first = options.batch_first,
                            .norm_first = options.norm_first,
                            .dtype = kDouble});
  return {module, [module, mask](const std::vector<Tensor>& x) {
            return module(x[0], x[1], mask("src_mask"), mask("tgt_mask"), mask("memory_mask"),
                          mask("src_key_padding_mask"));
          }};
}

// The names and their order are PyTorch's, or the state dict would not load.
TEST(Transformer, ComputesWhatPyTorchComputes) {
  std::ifstream stream(HALFGRAD_SOURCE_DIR "/tests/expected/transformer.json");
  const json file = json::parse(stream);
  ASSERT_EQ(file["cases"].size(), 11);
  for (const json& c : file["cases"]) {
    SCOPED_TRACE(c["module"].get<std::string>() + " " + c["options"].dump());
    Loaded loaded = module_of(c);
    StateDict state;
    for (const auto& [name, stored] : c["state"].items()) state.insert(name, stored_tensor(stored));
    loaded.module.load_state_dict(state);
    std::vector<Tensor> inputs;
    for (const json& input : c["inputs"]) {
      inputs.push_back(stored_tensor(input).detach().requires_grad_());
    }
    const Tensor output = loaded.run(inputs);
    EXPECT_EQ(output.sizes(), stored_tensor(c["output"]).sizes());
    expect_values(output, c["output"]["values"], "output");
    output.backward(stored_tensor({{"shape", c["output"]["shape"]}, {"values", c["cotangent"]}}));
    for (const auto& [name, parameter] : loaded.module.named_parameters()) {
      expect_values(parameter.grad(), c["gradients"][name], name);
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      expect_values(inputs[i].grad(), c["input_gradients"][i], "input " + std::to_string(i));
    }
  }
}

TEST(Transformer, DrawsWeightsAsGlorot) {
  const Transformer model(8, 2, {.num_encoder_layers = 2, .num_decoder_layers = 2});
  const auto& [first, second] = std::tie(model.encoder.layers[0], model.encoder.layers[1]);
  EXPECT_FALSE(equal(first.linear1.weight, second.linear1.weight));  // drawn again after the copy
  EXPECT_LE(first.linear1.weight.abs().max().item(), std::sqrt(6.0 / (8 + 2048)));
  const TransformerEncoder encoder(TransformerEncoderLayer(8, 2), 2);
  EXPECT_TRUE(equal(encoder.layers[0].linear1.weight, encoder.layers[1].linear1.weight));
}

TEST(Transformer, IsClonedWithItsParametersAndOptions) {
  TransformerLayerArguments options{.dim_feedforward = 4, .dropout = 0.5};
  options.activation = [](const Tensor& x) { return x * 3; };
  const TransformerEncoderLayer layer(4, 2, options);
  const TransformerEncoder encoder(layer, 2, LayerNorm({4}));
  const TransformerDecoder decoder(TransformerDecoderLayer(4, 2, {.dropout = 0.5}), 1);
  Transformer model(4, 2, {.custom_encoder = encoder, .custom_decoder = decoder});
  model.eval();
  const auto copy = std::dynamic_pointer_cast<Transformer>(model.clone());
  ASSERT_NE(copy, nullptr);
  EXPECT_FALSE(copy->is_training());
  const Tensor x = randn({3, 2, 4}), y = randn({2, 2, 4});
  EXPECT_TRUE(equal(model(x, y), (*copy)(x, y)));
  copy->encoder.layers[1].linear1.bias.array().fill_(7);
  EXPECT_FALSE(equal(model(x, y), (*copy)(x, y)));
  EXPECT_EQ(copy->named_parameters().keys(), model.named_parameters().keys());
  EXPECT_FALSE(encoder.norm.is_empty());
  EXPECT_TRUE(decoder.norm.is_empty());
}

TEST(Transformer, DropsInTrainingOnly) {
  TransformerEncoderLayer layer(4, 2, {.dim_feedforward = 8, .dropout = 0.5});
  const Tensor x = randn({3, 2, 4});
  manual_seed(1);
  const Tensor first = layer(x);
  manual_seed(2);
  EXPECT_FALSE(equal(first, layer(x)));
  layer.eval();
  EXPECT_TRUE(equal(layer(x), layer(x)));
}

TEST(Transformer, MasksLaterPositions) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Transformer::generate_square_subsequent_mask(3).to_vector<double>(),
            (Doubles{0, -inf, -inf, 0, 0, -inf, 0, 0, 0}));
  EXPECT_EQ(Transformer::generate_square_subsequent_mask(1).to_vector<double>(), Doubles{0});
  EXPECT_EQ(Transformer::generate_square_subsequent_mask(0).numel(), 0);
  EXPECT_THROW(Transformer::generate_square_subsequent_mask(-1), std::invalid_argument);
  // A position does not change when a later one does.
  TransformerEncoderLayer layer(4, 2, {.dim_feedforward = 8, .dropout = 0});
  const Tensor x = randn({3, 1, 4}), mask = Transformer::generate_square_subsequent_mask(3);
  const Tensor before = layer(x, mask);
  Tensor(x[2]).fill_(5);
  EXPECT_TRUE(equal(before.slice(0, 0, 2), layer(x, mask).slice(0, 0, 2)));
  EXPECT_FALSE(equal(before[2], layer(x, mask)[2]));
}

// As in Python; libtorch's C++ layers give NaN.
TEST(Transformer, IsFiniteForAQueryThatSeesNoKey) {
  const TransformerEncoderLayer layer(4, 2, {.dim_feedforward = 8, .dropout = 0});
  const Tensor hidden = ones({2, 3}, kBool);
  EXPECT_EQ(layer(randn({3, 2, 4}), Tensor(), hidden).isfinite().all().item(), 1);
}

TEST(Transformer, TakesLowPrecision) {
  TransformerEncoderLayer layer(4, 2, {.dim_feedforward = 8, .dropout = 0, .dtype = kBFloat16});
  EXPECT_EQ(layer(randn({3, 2, 4}, kBFloat16)).dtype(), kBFloat16);
  layer.to(kHalf);
  EXPECT_EQ(
      std::dynamic_pointer_cast<TransformerEncoderLayer>(layer.clone())->linear1.weight.dtype(),
      kHalf);
}

TEST(Transformer, RefusesBadInput) {
  const Transformer model(4, 2, {.num_encoder_layers = 1, .num_decoder_layers = 1});
  EXPECT_THROW(model(randn({2, 3, 4}), randn({3, 2, 4})), std::invalid_argument);
  EXPECT_THROW(model(randn({2, 3, 4}), randn({2, 3, 3})), std::invalid_argument);
  EXPECT_THROW(model(randn({2, 4}), randn({2, 3, 4})), std::invalid_argument);
  EXPECT_THROW(TransformerEncoderLayer wrong(4, 3), std::invalid_argument);
  EXPECT_THROW(TransformerActivation wrong(kTanh), std::invalid_argument);
  const TransformerEncoderLayer layer(4, 2);
  EXPECT_THROW(TransformerEncoder none(layer, 0), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::nn
