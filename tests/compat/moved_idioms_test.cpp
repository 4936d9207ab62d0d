#include <cstddef>
#include <cstdint>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/compat/torch.h>

// Idioms of programs for libtorch that need a spelling of their own.
namespace {

namespace torch = halfgrad;
namespace at = halfgrad;
namespace nn = torch::nn;
using torch::Tensor;

TEST(MovedIdioms, AHookIsANumber) {
  const Tensor x = torch::ones({1}, torch::requires_grad());
  std::vector<unsigned> hooks;
  hooks.push_back(x.register_hook([](const Tensor& gradient) { return gradient * 10; }));
  hooks.push_back(x.register_hook([](const Tensor& gradient) { return gradient + 1; }));
  (x * 1).sum().backward();
  EXPECT_EQ(x.grad().item<double>(), 11);
  x.remove_hook(hooks[0]);
  (x * 1).sum().backward();
  EXPECT_EQ(x.grad().item<double>(), 13);
  x.remove_hook(hooks[1]);
  EXPECT_THROW(x.remove_hook(hooks[1]), std::invalid_argument);
  (x * 1).sum().backward();
  EXPECT_EQ(x.grad().item<double>(), 14);

  const Tensor y = x * 2;
  const unsigned hook = y.register_hook([](const Tensor& gradient) { return gradient * 100; });
  y.remove_hook(hook);
  y.sum().backward();
  EXPECT_EQ(x.grad().item<double>(), 16);
}

TEST(MovedIdioms, BackwardRunsTwiceThroughAScalar) {
  const Tensor x = torch::ones({1}, torch::requires_grad());
  const Tensor y = 3 - x * 2 / 4;
  y.backward();
  y.backward();
  EXPECT_EQ(x.grad().item<double>(), -1);
  const Tensor z = x * torch::tensor(2.0f);
  z.backward();
  EXPECT_THROW(z.backward(), std::runtime_error) << "a tensor is freed";
}

struct Scaled : nn::Module {
  Tensor forward(Tensor x, int times, double shift) { return x * times + shift; }
  FORWARD_HAS_DEFAULT_ARGS({1, nn::AnyValue(2)}, {2, nn::AnyValue(0.5)})
};

TEST(MovedIdioms, ForwardHasDefaultArguments) {
  const nn::AnyModule scaled(std::make_shared<Scaled>());
  const Tensor x = torch::ones({1});
  EXPECT_EQ(scaled.forward(x).item<double>(), 2.5);
  EXPECT_EQ(scaled.forward(x, 3).item<double>(), 3.5);
  EXPECT_EQ(scaled.forward(x, 3, 1.0).item<double>(), 4);
  EXPECT_THROW(scaled.any_forward(), std::invalid_argument) << "the first argument has no default";
}

TEST(MovedIdioms, ALinearIsMadeOfAPointer) {
  const auto pointer = std::make_shared<nn::LinearImpl>(2, 3);
  const nn::Linear layer(pointer);
  EXPECT_TRUE(layer.is_same(*pointer));
  const nn::Linear copy(std::dynamic_pointer_cast<nn::LinearImpl>(layer->clone()));
  EXPECT_TRUE(copy->weight.equal(layer->weight));
  EXPECT_FALSE(copy->weight.is_same(layer->weight));
  EXPECT_TRUE(nn::Linear(std::shared_ptr<nn::LinearImpl>()).is_empty());
}

TEST(MovedIdioms, RegisterModuleNamesItsType) {
  struct Inner : nn::Module {
    Inner() { register_parameter("w", torch::ones({1})); }
  };
  struct Outer : nn::Module {
    std::shared_ptr<Inner> inner = register_module<Inner>("inner", std::make_shared<Inner>());
    nn::Linear fc = register_module<nn::Linear>("fc", nn::Linear(2, 2));
  };
  const Outer outer;
  EXPECT_EQ(outer.named_parameters().keys(),
            (std::vector<std::string>{"inner.w", "fc.weight", "fc.bias"}));
}

TEST(MovedIdioms, ModuleToTakesNonBlocking) {
  const auto net = std::make_shared<nn::LinearImpl>(2, 2);
  net->to(torch::kDouble, /*non_blocking=*/true);
  EXPECT_EQ(net->weight.dtype(), torch::kDouble);
  net->to(torch::Device("cpu"), /*non_blocking=*/true);
  net->to(torch::kCPU, torch::kFloat, /*non_blocking=*/false);
  EXPECT_EQ(net->weight.dtype(), torch::kFloat);
}

TEST(MovedIdioms, NormalizeTakesArrayRefs) {
  const std::vector<double> means = {1, 2};
  torch::data::transforms::Normalize<> normalize(at::ArrayRef<double>(means), {0.5, 2});
  const Tensor image = normalize(torch::ones({2, 1, 1}));
  EXPECT_EQ(image.to_vector<double>(), (std::vector<double>{0, -0.5}));
}

TEST(MovedIdioms, OptimizersTakeFurtherParameters) {
  const Tensor a = torch::ones({1}, torch::requires_grad());
  const Tensor b = torch::ones({1}, torch::requires_grad());
  torch::optim::SGD sgd({a}, torch::optim::SGDOptions(0.5));
  sgd.add_parameters({b});
  EXPECT_EQ(sgd.size(), 2);
  EXPECT_EQ(sgd.param_groups().size(), 1);
  (a + b * 2).sum().backward();
  sgd.step();
  EXPECT_EQ(b.item<double>(), 0);
  EXPECT_THROW(sgd.add_parameters({a}), std::invalid_argument);
  EXPECT_EQ(sgd.size(), 2);
}

TEST(MovedIdioms, MemoryFormatsAreRowMajor) {
  const Tensor x = torch::ones({2, 3}).t();
  EXPECT_FALSE(x.is_contiguous(torch::MemoryFormat::Contiguous));
  EXPECT_TRUE(x.contiguous(torch::MemoryFormat::Contiguous).is_contiguous());
  EXPECT_TRUE(x.clone(at::MemoryFormat::Preserve).equal(x));
  const torch::TensorOptions halves(torch::kHalf);
  EXPECT_EQ(torch::empty({2}, halves, torch::MemoryFormat::Contiguous).dtype(), torch::kHalf);
  EXPECT_EQ(torch::ones_like(x, halves, torch::MemoryFormat::Preserve).dtype(), torch::kHalf);
}

TEST(MovedIdioms, DevicesAndKinds) {
  EXPECT_EQ(torch::Device(torch::kCPU, -1), torch::Device(torch::kCPU));
  EXPECT_THROW(torch::Device(torch::kCPU, -2), std::invalid_argument);
  EXPECT_THROW(torch::Device(torch::kCUDA, -1), std::invalid_argument);
  EXPECT_FALSE(torch::Device("cpu").has_index());
  EXPECT_TRUE(torch::Device("cuda:1").has_index());
  EXPECT_EQ(torch::Scalar(2.5).type(), torch::kDouble);
  EXPECT_EQ(torch::Scalar(2).type(), torch::kLong);
  EXPECT_EQ(torch::Scalar(true).type(), torch::kBool);
  std::ostringstream layout;
  layout << torch::ones({1}).layout();
  EXPECT_EQ(layout.str(), "Strided");
  const Tensor x = torch::ones({1}), same = x;
  EXPECT_EQ(x.use_count(), 2);
}

TEST(MovedIdioms, SettingsOfAProgram) {
  EXPECT_EQ(torch::hasCUDA(), torch::cuda::is_available());
  at::globalContext().setDeterministicCuDNN(true);
  at::globalContext().setBenchmarkCuDNN(true);
  at::globalContext().setDeterministicAlgorithms(false, false);
  EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
  torch::cuda::manual_seed_all(3);
  const Tensor drawn = torch::rand({2});
  torch::manual_seed(3);
  EXPECT_TRUE(torch::rand({2}).equal(drawn));
}

// Doubles the elements in place, and returns the size of one.
std::size_t double_floats(const Tensor& x) {
  return AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "double_floats", [&] {
    scalar_t* values = x.data_ptr<scalar_t>();
    for (std::int64_t i = 0; i < x.numel(); ++i) values[i] *= 2;
    return sizeof(scalar_t);
  });
}

std::size_t size_of_half(torch::Dtype dtype) {
  return AT_DISPATCH_FLOATING_TYPES_AND_HALF(dtype, "size", [] { return sizeof(scalar_t); });
}
std::size_t size_of_integer(torch::Dtype dtype) {
  return AT_DISPATCH_INTEGRAL_TYPES(dtype, "size", [] { return sizeof(scalar_t); });
}
std::size_t size_of_any(torch::Dtype dtype) {
  return AT_DISPATCH_ALL_TYPES(dtype, "size", [] { return sizeof(scalar_t); });
}

TEST(MovedIdioms, DispatchNamesTheTypeOfElements) {
  const Tensor x = torch::ones({2}), y = torch::ones({2}, torch::kDouble);
  EXPECT_EQ(double_floats(x), 4);
  EXPECT_EQ(double_floats(y), 8);
  EXPECT_EQ(x.sum().item<double>() + y.sum().item<double>(), 8);
  EXPECT_THROW(double_floats(torch::arange(2)), std::invalid_argument);
  EXPECT_EQ(size_of_half(torch::kHalf), 2);
  EXPECT_THROW(size_of_half(torch::kBFloat16), std::invalid_argument);
  for (const torch::Dtype dtype :
       {torch::kByte, torch::kChar, torch::kShort, torch::kInt, torch::kLong}) {
    EXPECT_EQ(size_of_integer(dtype), torch::elementSize(dtype));
    EXPECT_EQ(size_of_any(dtype), torch::elementSize(dtype));
  }
  EXPECT_THROW(size_of_integer(torch::kFloat), std::invalid_argument);
  EXPECT_EQ(size_of_any(torch::kFloat), 4);
  EXPECT_THROW(size_of_any(torch::kBool), std::invalid_argument);
}

TEST(MovedIdioms, ListsOfParametersPrintTheirShapes) {
  std::ostringstream out;
  nn::ParameterDict named;
  named->insert("w", torch::ones({2, 3}));
  out << nn::ParameterList(torch::ones({2}), torch::zeros({1})) << ' ' << named << ' '
      << nn::ParameterList();
  EXPECT_EQ(out.str(),
            "ParameterList((0): float32 [2], (1): float32 [1]) "
            "ParameterDict((w): float32 [2, 3]) ParameterList()");
}

}  // namespace
