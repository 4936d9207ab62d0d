#include <halfgrad/amp/module_policy.h>

#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/autocast.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad::amp {
namespace {

using Values = std::vector<double>;

/// Returns a sum and a copy, and stores the dtypes of its input and of its results.
struct Probe : nn::Callable<Probe> {
  Probe() : Callable("Probe") {}
  std::vector<Tensor> forward(const Tensor& x, const Tensor& index) const {
    const Tensor sum = x + weight;
    computed.push_back(sum.dtype());
    computed.push_back(exp(sum).dtype());       // 16 bits as well, though it overflows
    computed.push_back(x.to(kDouble).dtype());  // the module's own conversion
    computed.push_back((x.to(kDouble) + sum).dtype());
    if (is_autocast_enabled(default_device_type())) throw std::logic_error("in a region");
    return {sum, index + 1};
  }

  Tensor weight = register_parameter("weight", full({2}, 1.0 + 0x1p-12));
  static inline std::vector<DType> computed;
};

TEST(ModulePolicy, ComputesInOneDTypeAndReturnsAnother) {
  for (const DType compute : {kHalf, kBFloat16, kFloat, kDouble}) {
    for (const DType output : {kHalf, kFloat}) {
      const auto probe = with_policy(Probe(), {.compute = compute, .output = output});
      Probe::computed.clear();
      const Autocast autocast(default_device_type(), kBFloat16);  // has no effect inside
      const auto result = probe(zeros({2}), tensor({1, 2}));
      EXPECT_EQ(Probe::computed, (std::vector<DType>{compute, compute, kDouble, compute}));
      EXPECT_EQ(result[0].dtype(), output);
      EXPECT_EQ(result[1].dtype(), kLong);
      EXPECT_TRUE(is_autocast_enabled(default_device_type()));
      EXPECT_EQ(probe.parameters()[0].dtype(), kFloat);
    }
  }
}

TEST(ModulePolicy, ParametersAndTheirGradientsHaveItsParamDType) {
  for (const DType param : {kFloat, kBFloat16}) {
    const nn::Linear linear(2, 1, {.bias = false});
    linear.weight.array().fill_(1 + 0x1p-9);  // no bfloat16 value
    const auto policed = with_policy(linear, {.param = param, .compute = kHalf});
    EXPECT_TRUE(policed.is_same(linear));
    EXPECT_EQ(linear.weight.dtype(), param);
    EXPECT_EQ(policed(ones({1, 2})).item(), param == kFloat ? 2 + 0x1p-8 : 2);
    policed(full({1, 2}, 3.0)).backward();
    EXPECT_EQ(linear.weight.grad().dtype(), param);
    EXPECT_EQ(linear.weight.grad().to_vector<double>(), (Values{3, 3}));
  }
}

TEST(ModulePolicy, IsALayerOfASequential) {
  const nn::Sequential model(with_policy(nn::Linear(4, 3), {.output = kHalf}), nn::ReLU(),
                             with_policy(nn::Linear(3, 2), {.compute = kBFloat16}));
  EXPECT_EQ(model.state_dict().keys(),
            (std::vector<std::string>{"0.weight", "0.bias", "2.weight", "2.bias"}));
  const Tensor y = model(ones({5, 4}));
  EXPECT_EQ(y.dtype(), kFloat);
  sum(y).backward();
  for (const Tensor& parameter : model.parameters()) EXPECT_TRUE(parameter.grad().defined());
}

TEST(ModulePolicy, InnerPolicyDecides) {
  const auto inner = with_policy(nn::Linear(2, 2), {.compute = kDouble, .output = kDouble});
  DType seen = kHalf;
  struct Outer : nn::Callable<Outer> {
    Outer(const WithPolicy<nn::Linear>& layer, DType* dtype) : layer_(layer), dtype_(dtype) {}
    Tensor forward(const Tensor& x) const {
      const Tensor y = layer_(x);
      *dtype_ = y.dtype();
      return y + y;
    }
    WithPolicy<nn::Linear> layer_;
    DType* dtype_;
  };
  const auto outer = with_policy(Outer(inner, &seen), {.compute = kHalf, .output = kHalf});
  EXPECT_EQ(outer(ones({1, 2})).dtype(), kHalf);
  EXPECT_EQ(seen, kDouble);
}

}  // namespace
}  // namespace halfgrad::amp
