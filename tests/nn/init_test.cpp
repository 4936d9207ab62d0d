#include <halfgrad/nn/init.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <map>

#include <gtest/gtest.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/random.h>
#include <halfgrad/nn/embedding.h>
#include <halfgrad/nn/linear.h>
#include <halfgrad/nn/norm.h>
#include <nlohmann/json.hpp>

namespace halfgrad::nn {
namespace {

using Json = nlohmann::json;

const Json& expected() {
  static const Json json =
      Json::parse(std::ifstream(HALFGRAD_SOURCE_DIR "/tests/expected/init.json"));
  return json;
}

Nonlinearity nonlinearity_of(const std::string& name) {
  static const std::map<std::string, Nonlinearity> known{
      {"linear", kLinear}, {"sigmoid", kSigmoid},      {"tanh", kTanh},
      {"relu", kReLU},     {"leaky_relu", kLeakyReLU}, {"selu", kSELU}};
  return known.at(name);
}

double number(const Json& options, const char* name, double otherwise) {
  return options.value(name, otherwise);
}

/// Calls an init function by name, with options spelled as in Python.
Tensor fill(const Tensor& t, const std::string& function, const Json& o) {
  const FanMode mode = o.value("mode", "fan_in") == "fan_in" ? kFanIn : kFanOut;
  const Nonlinearity nonlinearity = nonlinearity_of(o.value("nonlinearity", "leaky_relu"));
  const double slope = number(o, "a", 0);
  const double gain = number(o, "gain", 1);
  if (function == "kaiming_uniform_") return init::kaiming_uniform_(t, slope, mode, nonlinearity);
  if (function == "kaiming_normal_") return init::kaiming_normal_(t, slope, mode, nonlinearity);
  if (function == "xavier_uniform_") return init::xavier_uniform_(t, gain);
  if (function == "xavier_normal_") return init::xavier_normal_(t, gain);
  if (function == "uniform_") return init::uniform_(t, slope, number(o, "b", 1));
  if (function == "normal_") return init::normal_(t, number(o, "mean", 0), number(o, "std", 1));
  throw std::invalid_argument("no such function: " + function);
}

/// Draws from the distribution that PyTorch uses, with the next key of the default generator.
Tensor draw(const Shape& sizes, const Json& row, DType dtype) {
  const Tensor t = empty(sizes, {.dtype = dtype});
  const std::string kind = row["kind"];
  if (kind == "constant") {
    t.array().fill_(row["value"].get<double>());
  } else if (kind == "uniform") {
    random::uniform(t.array(), row["low"], row["high"], default_generator().take());
  } else {
    random::normal(t.array(), row["mean"], row["std"], default_generator().take());
  }
  return t;
}

/// Expects equality, except for rounding errors in the computation of the bounds.
void expect_same(const Tensor& a, const Tensor& b, const std::string& what) {
  ASSERT_EQ(a.sizes(), b.sizes()) << what;
  const auto x = a.to_vector<double>();
  const auto y = b.to_vector<double>();
  double largest = 0;
  for (const double value : y) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_LE(std::abs(x[i] - y[i]), 4 * roundoff(a.dtype()) * std::max(1.0, largest)) << what;
  }
}

TEST(Init, GainsArePyTorchs) {
  for (const Json& row : expected()["gains"]) {
    const double param = row["param"].is_null() ? 0.01 : row["param"].get<double>();
    EXPECT_DOUBLE_EQ(init::calculate_gain(nonlinearity_of(row["nonlinearity"]), param), row["gain"])
        << row;
  }
}

TEST(Init, DrawsFromPyTorchsDistributions) {
  for (const Json& row : expected()["cases"]) {
    const Shape sizes(row["shape"].get<std::vector<std::int64_t>>());
    const Tensor t = empty(sizes, {.dtype = kFloat64});
    EXPECT_EQ(init::calculate_fan_in_and_fan_out(t),
              std::pair(row["fan_in"].get<std::int64_t>(), row["fan_out"].get<std::int64_t>()));
    manual_seed(5);
    const Tensor filled = fill(t, row["function"], row["options"]);
    EXPECT_TRUE(filled.is_same(t));
    manual_seed(5);
    expect_same(t, draw(sizes, row, kFloat64), row.dump());
  }
}

TEST(Init, FreshLayersDrawFromPyTorchsDistributions) {
  using Sizes = std::vector<std::int64_t>;
  const std::map<std::string, std::function<Module(const Sizes&)>> layers{
      {"Linear", [](const Sizes& s) { return Linear(s[0], s[1]); }},
      {"LayerNorm", [](const Sizes& s) { return LayerNorm(s); }},
      {"RMSNorm", [](const Sizes& s) { return RMSNorm(s); }},
      {"GroupNorm", [](const Sizes& s) { return GroupNorm(s[0], s[1]); }},
      {"BatchNorm1d", [](const Sizes& s) { return BatchNorm1d(s[0]); }},
      {"Embedding", [](const Sizes& s) { return Embedding(s[0], s[1]); }}};
  std::map<std::string, StateDict> built;
  std::map<std::string, RandomKey> keys;
  for (const Json& row : expected()["layers"]) {
    const std::string layer = row["layer"];
    const std::string made = layer + row["sizes"].dump();
    if (!built.contains(made)) {
      manual_seed(5);
      built[made] = layers.at(layer)(row["sizes"].get<Sizes>()).state_dict();
      keys[made] = {5, 0};
    }
    const Tensor& tensor = built[made][row["tensor"].get<std::string>()];
    default_generator().set_state(keys[made]);
    expect_same(tensor, draw(tensor.sizes(), row, tensor.dtype()), row.dump());
    keys[made] = default_generator().get_state();
  }
}

// Compares the mean and variance of n samples with their expectation, within 5 standard errors.
TEST(Init, MomentsAreRight) {
  manual_seed(3);
  constexpr double n = 1 << 16;
  const Shape sizes{256, 256};
  const struct {
    Tensor tensor;
    double mean, variance, kurtosis;
  } cases[] = {{init::uniform_(empty(sizes), -0.3, 0.7), 0.2, 1.0 / 12, 1.8},
               {init::normal_(empty(sizes), 1, 0.5), 1, 0.25, 3}};
  for (const auto& c : cases) {
    double sum = 0;
    double squares = 0;
    for (const double x : c.tensor.to_vector<double>()) {
      sum += x;
      squares += (x - c.mean) * (x - c.mean);
    }
    EXPECT_NEAR(sum / n, c.mean, 5 * std::sqrt(c.variance / n));
    EXPECT_NEAR(squares / n, c.variance, 5 * c.variance * std::sqrt((c.kurtosis - 1) / n));
  }
}

TEST(Init, ConstantsAndIdentity) {
  const Tensor t = empty({2, 3}, {.requires_grad = true});
  const auto version = t._version();
  EXPECT_EQ(init::constant_(t, 2.5).to_vector<double>(), std::vector<double>(6, 2.5));
  EXPECT_GT(t._version(), version);
  EXPECT_EQ(init::zeros_(t).to_vector<double>(), std::vector<double>(6, 0));
  EXPECT_EQ(init::ones_(t).to_vector<double>(), std::vector<double>(6, 1));
  EXPECT_EQ(init::eye_(t).to_vector<double>(), (std::vector<double>{1, 0, 0, 0, 1, 0}));
  EXPECT_TRUE(t.is_leaf() && t.requires_grad());
}

TEST(Init, OrthogonalRowsOrColumns) {
  manual_seed(7);
  for (const Shape& sizes :
       {Shape{5, 5}, Shape{40, 7}, Shape{7, 40}, Shape{6, 2, 5}, Shape{1, 3}}) {
    const auto q = init::orthogonal_(empty(sizes, {.dtype = kFloat64}), 2).to_vector<double>();
    const std::int64_t rows = sizes[0];
    const std::int64_t cols = numel(sizes) / rows;
    const bool tall = rows > cols;
    const std::int64_t count = tall ? cols : rows;
    const std::int64_t length = tall ? rows : cols;
    const auto at = [&](std::int64_t i, std::int64_t k) {
      return q[static_cast<std::size_t>(tall ? k * cols + i : i * cols + k)];
    };
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t j = 0; j < count; ++j) {
        double dot = 0;
        for (std::int64_t k = 0; k < length; ++k) dot += at(i, k) * at(j, k);
        EXPECT_NEAR(dot, i == j ? 4 : 0, 16.0 * static_cast<double>(length) * 0x1p-53)
            << to_string(sizes);
      }
    }
  }
}

TEST(Init, RefusesShapesWithoutFans) {
  const Tensor vector = empty({4});
  EXPECT_THROW(init::kaiming_uniform_(vector), std::invalid_argument);
  EXPECT_THROW(init::xavier_normal_(vector), std::invalid_argument);
  EXPECT_THROW(init::orthogonal_(vector), std::invalid_argument);
  EXPECT_THROW(init::eye_(vector), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::nn
