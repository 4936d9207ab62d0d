#include <concepts>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/halfgrad.h>
#include <halfgrad/tests/message_of.h>

// libtorch's spellings, as its users write them, where `torch` names this library.
namespace {

namespace torch = halfgrad;
using torch::autograd::Variable;
using torch::autograd::variable_list;

const torch::Device kSecond(torch::kCPU, 1);  // a second CPU device, in place of a GPU

TEST(ChainedOptions, MakeTensors) {
  const torch::TensorOptions options =
      torch::TensorOptions().dtype(torch::kFloat64).device(torch::kCPU, 1).requires_grad(true);
  const torch::Tensor like = torch::zeros({2});
  const std::vector<torch::Tensor> made = {
      torch::empty({2}, options),
      torch::zeros({2}, options),
      torch::ones(2, options),
      torch::full({2}, 3, options),
      torch::arange(2, options),
      torch::arange(0, 2, options),
      torch::arange(0, 2, 1, options),
      torch::linspace(0, 1, 2, options),
      torch::eye(2, options),
      torch::eye(2, 3, options),
      torch::rand({2}, options),
      torch::randn(2, options),
      torch::randint(5, {2}, options),
      torch::randint(1, 5, {2}, options),
      torch::randperm(2, options),
      torch::tensor(1, options),
      torch::tensor({1, 2}, options),
      torch::tensor({{1.5, 2.0}}, options),
      torch::empty_like(like, options),
      torch::zeros_like(like, options),
      torch::ones_like(like, options),
      torch::full_like(like, 1, options),
      torch::rand_like(like, options),
      torch::randn_like(like, options),
      like.new_empty({2}, options),
      like.new_zeros({2}, options),
      like.new_ones(2, options),
      like.new_full({2}, 1, options),
      torch::tensor(std::vector<double>{1, 2}, options),
  };
  for (std::size_t i = 0; i < made.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(made[i].dtype(), torch::kDouble);
    EXPECT_EQ(made[i].device(), kSecond);
    EXPECT_TRUE(made[i].requires_grad());
  }
}

TEST(ChainedOptions, StartFromAnyOfThem) {
  EXPECT_EQ(torch::zeros({2}, torch::dtype(torch::kHalf)).dtype(), torch::kHalf);
  EXPECT_EQ(torch::zeros({2}, torch::device({torch::kCPU, 1})).device(), kSecond);
  EXPECT_EQ(torch::ones({2}, torch::device("cpu").dtype(torch::kInt)).dtype(), torch::kInt);
  EXPECT_TRUE(torch::ones({2}, torch::requires_grad()).requires_grad());
  EXPECT_FALSE(torch::ones({2}, torch::requires_grad(false)).requires_grad());
  const auto x =
      torch::randn({2}, torch::dtype(torch::kBFloat16).device(torch::kCPU).requires_grad(true));
  EXPECT_EQ(x.dtype(), torch::kBFloat16);
  EXPECT_TRUE(x.requires_grad());
  const auto on_gpu = torch::dtype(torch::kFloat).device(torch::kCUDA).requires_grad(true);
  EXPECT_EQ(on_gpu.device(), torch::Device(torch::kCUDA));
}

torch::Tensor identity(std::int64_t n, const torch::TensorOptions& options = {}) {
  return torch::eye(n, options);
}

TEST(ChainedOptions, AreValues) {
  const torch::Tensor x = torch::ones({2}, {.dtype = torch::kHalf, .device = kSecond});
  torch::TensorOptions options = x.options();
  EXPECT_EQ(options.dtype(), torch::kHalf);
  EXPECT_EQ(options.device(), kSecond);
  EXPECT_FALSE(options.requires_grad());
  EXPECT_EQ(torch::zeros(3, x.options().dtype(torch::kLong)).dtype(), torch::kLong);
  EXPECT_EQ(torch::zeros(3, x.options().dtype(torch::kLong)).device(), kSecond);
  options = options.dtype(torch::kDouble);
  EXPECT_EQ(identity(2, options).dtype(), torch::kDouble);
  EXPECT_EQ(identity(2, torch::kInt).dtype(), torch::kInt);
  EXPECT_EQ(identity(2, kSecond).device(), kSecond);
  EXPECT_EQ(identity(2).dtype(), torch::kFloat);
  EXPECT_EQ(torch::TensorOptions(torch::kCUDA).device(), torch::Device(torch::kCUDA));
  EXPECT_EQ(torch::TensorOptions().dtype(), torch::kFloat);
  EXPECT_TRUE(options.has_dtype() && options.has_device());
  EXPECT_FALSE(torch::dtype(torch::kInt).has_device() || torch::device("cpu").has_dtype());
}

TEST(ChainedOptions, ConvertTensors) {
  const torch::Tensor x = torch::ones({2}, {.dtype = torch::kHalf, .device = kSecond});
  const torch::Tensor y = torch::ones({2}).to(x.options());
  EXPECT_EQ(y.dtype(), torch::kHalf);
  EXPECT_EQ(y.device(), kSecond);
  EXPECT_EQ(x.to(torch::dtype(torch::kInt)).device(), kSecond);
  EXPECT_EQ(x.to(torch::device("cpu")).dtype(), torch::kHalf);
  EXPECT_EQ(x.to(torch::kCPU).device(), torch::Device());
  EXPECT_EQ(torch::message_of([&] { x.to(torch::requires_grad()); }).substr(0, 46),
            "to: expected options without requires_grad, wh");
}

TEST(OneInteger, IsAShape) {
  const int n = 3;
  const std::size_t count = 4;
  const torch::Shape three{3}, four{4};
  EXPECT_EQ(torch::ones(n).sizes(), three);
  EXPECT_EQ(torch::zeros(count).sizes(), four);
  EXPECT_EQ(torch::empty(0).numel(), 0);
  EXPECT_EQ(torch::rand(3).sizes(), three);
  EXPECT_EQ(torch::randn(3, torch::kDouble).sizes(), three);
  EXPECT_EQ(torch::zeros(3, {.dtype = torch::kHalf}).dtype(), torch::kHalf);
  EXPECT_TRUE(torch::full(3, 1).equal(torch::tensor({1, 1, 1})));
  EXPECT_TRUE(torch::full(1, 3).equal(torch::tensor({3})));
  EXPECT_EQ(torch::full({}, 3).dim(), 0);
  EXPECT_EQ(torch::randint(10, 3).sizes(), three);
  EXPECT_EQ(torch::randint(5, 6, 3).sum().item<int>(), 15);
  EXPECT_EQ(torch::randint(5, 6, {}).item<int>(), 5);
  const torch::Tensor x = torch::arange(12).view({3, 4});
  EXPECT_EQ(x.view(-1).sizes(), torch::Shape{12});
  EXPECT_EQ(x.reshape(-1).sizes(), torch::Shape{12});
  EXPECT_EQ(torch::ones(1).expand(4).sizes(), four);
  EXPECT_EQ(x.sum(0).sizes(), four);
  EXPECT_EQ(x.sum(-1).sizes(), three);
  EXPECT_EQ(torch::ones(2).repeat(3).sizes(), torch::Shape{6});
  EXPECT_EQ(x.new_zeros(3).sizes(), three);
  EXPECT_EQ(x.flip(0)[0][0].item<int>(), 8);
  EXPECT_EQ(torch::layer_norm(torch::randn({3, 4}), 4).sizes(), (torch::Shape{3, 4}));
}

template <class A, class B>
concept Comparable = requires(A a, B b) {
  a == b;
};
template <class T>
concept Printable = requires(T value) {
  torch::to_string(value);
};
static_assert(std::convertible_to<int, torch::Shape> && std::convertible_to<char, torch::Shape>);
static_assert(!std::convertible_to<bool, torch::Shape> &&
              !std::convertible_to<double, torch::Shape>);
static_assert(Comparable<torch::Shape, torch::Shape> && !Comparable<torch::Shape, int>);
static_assert(!Comparable<int, torch::Shape> && Printable<torch::Shape> && !Printable<int>);

std::int64_t product(torch::IntArrayRef sizes) {
  std::int64_t result = 1;
  for (const auto size : sizes) result *= size;
  return result;
}
torch::Tensor sum_of(torch::TensorList tensors) {
  torch::Tensor sum = torch::zeros_like(tensors[0]);
  for (const auto& tensor : tensors) sum += tensor;
  return sum;
}
std::int64_t bytes_of(torch::ScalarType type) { return torch::ones(1, type).element_size(); }

TEST(Aliases, NameTypesOfArguments) {
  const torch::Tensor x = torch::ones({2, 3});
  EXPECT_EQ(product({2, 3}) + product(5) + product(x.sizes()), 6 + 5 + 6);
  const std::vector<torch::Tensor> list{x, x};
  EXPECT_EQ(sum_of({x, x, x}).sum().item<int>(), 18);
  EXPECT_EQ(sum_of(list).sum().item<int>(), 12);
  EXPECT_EQ(torch::cat(torch::TensorList{x, x}).size(0), 4);
  EXPECT_EQ(bytes_of(torch::kHalf) + bytes_of(x.scalar_type()), 6);
}

TEST(Variables, AreTensors) {
  Variable x = torch::ones({2, 2});
  x.set_requires_grad(true);
  EXPECT_TRUE(x.requires_grad());
  const variable_list gradients = torch::autograd::grad({(x * 3).sum()}, {x});
  EXPECT_EQ(gradients[0].sum().item<int>(), 12);
  (x * 2).sum().backward();
  x.grad().detach_().zero_();
  EXPECT_EQ(x.grad().sum().item<int>(), 0);
  x.set_requires_grad(false);
  EXPECT_FALSE(x.requires_grad());
  EXPECT_THROW(torch::ones(1, torch::kLong).set_requires_grad(true), std::invalid_argument);
}

TEST(Elements, AreAssigned) {
  using namespace torch::indexing;
  torch::Tensor x = torch::zeros({3, 3});
  for (int i = 0; i < 3; ++i) {
    x[i] = i;
    x[i][i] = 10.5;
  }
  x.index({Slice(), 0}) = torch::tensor({7, 8, 9});
  x.index({0, Slice(1)}) = -1;
  EXPECT_TRUE(x.equal(torch::tensor({{7.0, -1.0, -1.0}, {8.0, 10.5, 1.0}, {9.0, 2.0, 10.5}})));
  x.index_put_({torch::tensor({0, 2}), torch::tensor({1, 1})}, torch::tensor({5.0, 6.0}));
  x.index_put_({x > 10}, 0);
  x.index_put_({torch::tensor({1, 1})}, torch::ones(3), /*accumulate=*/true);
  EXPECT_TRUE(x.equal(torch::tensor({{7.0, 5.0, -1.0}, {10.0, 2.0, 3.0}, {9.0, 6.0, 0.0}})));
  x[1] += 1;
  x[2] = x[1];
  EXPECT_EQ(x[2].sum().item<float>(), 18.0f);
}

}  // namespace
