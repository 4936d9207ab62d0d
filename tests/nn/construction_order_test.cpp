#include <halfgrad/nn/construction_order.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/nn/activation.h>
#include <halfgrad/nn/embedding.h>
#include <halfgrad/nn/linear.h>
#include <halfgrad/nn/norm.h>
#include <halfgrad/nn/sequential.h>

namespace halfgrad::nn {
namespace {

/// Calls `make` with seed 7. Returns the elements of all parameters, and one random value drawn
/// after.
std::vector<double> values(const std::function<Module()>& make) {
  manual_seed(7);
  std::vector<double> result;
  for (const Tensor& parameter : make().parameters()) {
    const std::vector<double> elements = parameter.to_vector<double>();
    result.insert(result.end(), elements.begin(), elements.end());
  }
  result.push_back(rand({}).item<double>());
  return result;
}

std::vector<double> made_in_statements() {
  return values([] {
    const Linear first(4, 3);
    const LayerNorm norm({3});
    const Linear second(3, 3);
    const Embedding table(5, 2);
    return Sequential(first, norm, second, table);
  });
}

/// Returns what `f` writes to std::cerr.
std::string warning_of(const std::function<void()>& f) {
  testing::internal::CaptureStderr();
  f();
  return testing::internal::GetCapturedStderr();
}

struct Block : Callable<Block> {
  Block(std::int64_t in, std::int64_t out)
      : Callable("Block"),
        first(register_module("first", Linear(in, out))),
        second(register_module("second", Linear(out, out))) {}
  Tensor forward(const Tensor& x) const { return second(first(x)); }

  Linear first;
  Linear second;
};

/// Draws its parameter without initialise(), so no Initialisation records the draw.
struct Shift : Callable<Shift> {
  Shift() : Callable("Shift"), shift(register_parameter("shift", randn({3}))) {}
  Tensor forward(const Tensor& x) const { return x + shift; }

  Tensor shift;
};

// Moved layers simulate a compiler that evaluates arguments from right to left.
TEST(Initialisation, FollowsTheOrderOfTheLayers) {
  const auto from_the_right = [] {
    Embedding table(5, 2);
    Linear second(3, 3);
    LayerNorm norm({3});
    Linear first(4, 3);
    return Sequential(std::move(first), std::move(norm), std::move(second), std::move(table));
  };
  EXPECT_EQ(values(from_the_right), made_in_statements());
}

TEST(Initialisation, IsEqualInParenthesesAndInBraces) {
  const auto parentheses = [] {
    return Sequential(Linear(4, 3), LayerNorm({3}), Linear(3, 3), Embedding(5, 2));
  };
  const auto braces = [] {
    return Sequential{Linear(4, 3), LayerNorm({3}), Linear(3, 3), Embedding(5, 2)};
  };
  EXPECT_EQ(values(parentheses), made_in_statements());
  EXPECT_EQ(values(braces), made_in_statements());
}

TEST(Initialisation, FollowsTheOrderOfNestedLayers) {
  const auto statements = [] {
    const Linear a(4, 3);
    const Linear b(3, 3);
    const Block c(3, 2);
    const Linear d(2, 2);
    return Sequential(Sequential(a, ReLU(), b), c, d);
  };
  const auto nested = [] {
    return Sequential(Sequential(Linear(4, 3), ReLU(), Linear(3, 3)), Block(3, 2), Linear(2, 2));
  };
  const auto from_the_right = [] {
    Linear d(2, 2);
    Block c(3, 2);
    Linear b(3, 3);
    Linear a(4, 3);
    Sequential inner(std::move(a), ReLU(), std::move(b));
    return Sequential(std::move(inner), std::move(c), std::move(d));
  };
  EXPECT_EQ(values(nested), values(statements));
  EXPECT_EQ(values(from_the_right), values(statements));
}

TEST(Initialisation, DoesNotChangeSharedLayers) {
  manual_seed(7);
  const Linear second(3, 2);
  const Linear first(4, 3);
  const std::vector<double> before = values([&] { return second; });
  const std::string warning = warning_of([&] { Sequential model(first, second); });
  EXPECT_EQ(warning, "");
  EXPECT_EQ(values([&] { return second; }), before);
}

TEST(Initialisation, DoesNotChangeOtherParametersAndWarns) {
  const std::vector<std::function<void(Linear&)>> changes = {
      [](Linear& layer) { layer.weight.array().select(0, 0).fill_(7); },
      [](Linear& layer) { layer.to(kHalf); },
      [](Linear& layer) { layer.reset_parameters(); },
      [](Linear&) { randn({1}); },
      [](Linear&) {  // the same stream of another seed
        manual_seed(8);
        for (int i = 0; i < 3; ++i) rand({});
      },
  };
  for (const auto& change : changes) {
    manual_seed(7);
    rand({});
    Linear second(3, 2);
    change(second);
    Linear first(4, 3);
    const std::vector<double> first_before = first.weight.to_vector<double>();
    const std::vector<double> second_before = second.weight.to_vector<double>();
    auto model = std::make_unique<Sequential>();
    const std::string warning =
        warning_of([&] { *model = Sequential(std::move(first), std::move(second)); });
    EXPECT_NE(warning.find("Sequential{...} with braces"), std::string::npos) << warning;
    EXPECT_EQ(model->at<Linear>(0).weight.to_vector<double>(), first_before);
    EXPECT_EQ(model->at<Linear>(1).weight.to_vector<double>(), second_before);
  }
}

TEST(Initialisation, WarnsOfDrawsThatItCannotRepeat) {
  Shift second;
  Shift first;
  const std::string warning =
      warning_of([&] { Sequential model(std::move(first), std::move(second)); });
  EXPECT_NE(warning.find("statement of its own"), std::string::npos) << warning;
}

}  // namespace
}  // namespace halfgrad::nn
