#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/allocator.h>
#include <halfgrad/tests/message_of.h>

// Tensors that are changed in place, replaced or freed after ops whose backward does not read them,
// and after ops whose backward does.
namespace halfgrad {
namespace {

using Doubles = std::vector<double>;

Tensor variable(const Doubles& elements) {
  return tensor(elements, {.dtype = kDouble}).requires_grad_();
}

TEST(OverwrittenTensors, StayInTheGraph) {
  const Tensor x = variable({1, 2});
  for (const auto& overwrite : std::vector<std::function<void(Tensor&)>>{
           [](Tensor& y) { y.zero_(); }, [](Tensor& y) { y.fill_(3); },
           [](Tensor& y) { y.copy_(ones({2}, {.dtype = kDouble})); }}) {
    Tensor y = x * 2;
    overwrite(y);
    EXPECT_TRUE(y.requires_grad());
    EXPECT_EQ(autograd::grad({sum(y * y)}, {x})[0].to_vector<double>(), (Doubles{0, 0}));
  }
}

TEST(OverwrittenTensors, AreNotNeededByAProductWithAConstant) {
  const Tensor x = variable({1, 2});
  const Tensor c = tensor({3.0, 4.0}, {.dtype = kDouble});
  Tensor h = x * 1;
  const Tensor y = h * c + h / c + h * 0.5 + h / 2;
  h.add_(1.0);
  const Tensor dx = autograd::grad({sum(y) + sum(h)}, {x}, {}, {.create_graph = true})[0];
  EXPECT_NEAR(dx[0].item(), 3 + 1.0 / 3 + 2, 1e-14);
  EXPECT_NEAR(dx[1].item(), 4 + 1.0 / 4 + 2, 1e-14);
  EXPECT_FALSE(dx.requires_grad());
}

TEST(OverwrittenTensors, AreNotNeededByAProductWithAConstantMatrix) {
  const Tensor x = reshape(variable({1, 2, 3, 4}), {2, 2});
  const Tensor c = tensor({{3.0, 4.0}, {5.0, 6.0}}, {.dtype = kDouble});
  Tensor h = x * 1, s = x * 1;
  const Tensor y =
      sum(mm(h, c)) + sum(linear(h, c, c[0])) + sum(addmm(s, h, c)) + dot(flatten(h), flatten(c));
  h.add_(1);
  s.add_(1);
  const Tensor dx = autograd::grad({y}, {x})[0];
  // Twice the sums of rows of c, 14 or 22; the sums of its columns, 8 and 10; 1 for s; c itself.
  EXPECT_EQ(dx.to_vector<double>(), (Doubles{14 + 8 + 1 + 3, 22 + 10 + 1 + 4,  //
                                             14 + 8 + 1 + 5, 22 + 10 + 1 + 6}));
}

// An operand that no gradient reads is freed with its last handle.
TEST(OverwrittenTensors, AreNotKeptByProducts) {
  constexpr std::int64_t kSide = 64, kBytes = kSide * kSide * 8;
  const Tensor x = ones({kSide, kSide}, {.dtype = kDouble, .requires_grad = true});
  const Tensor c = ones({kSide, kSide}, {.dtype = kDouble});
  const Tensor row = c[0];
  using Product = std::function<Tensor(const Tensor&)>;
  const std::vector<std::pair<const char*, Product>> products = {
      {"mul", [&](const Tensor& h) { return h * c; }},
      {"div", [&](const Tensor& h) { return h / c; }},
      {"addcmul", [&](const Tensor& h) { return addcmul(c, h, c); }},
      {"addcdiv", [&](const Tensor& h) { return addcdiv(c, h, c); }},
      {"lerp", [&](const Tensor& h) { return lerp(h, c, row); }},
      {"matmul", [&](const Tensor& h) { return matmul(h, c); }},
      {"linear", [&](const Tensor& h) { return linear(h, c, row); }},
      {"addmm", [&](const Tensor& h) { return addmm(c, h, c); }},
      {"dot", [&](const Tensor& h) { return dot(flatten(h), flatten(c)); }}};
  for (const auto& [name, product] : products) {
    Tensor h = x + 1;
    const Tensor y = product(h);
    const std::int64_t before = allocator::stats(x.device()).current;
    h = Tensor();
    EXPECT_EQ(before - allocator::stats(x.device()).current, kBytes) << name;
  }
}

TEST(OverwrittenTensors, AreNotNeededByPow) {
  const Tensor x = variable({1, 2});
  const Tensor exponent = variable({2, 3});
  Tensor y = pow(x, exponent);
  y.add_(1);
  const auto gradients = autograd::grad({sum(y)}, {x, exponent});
  EXPECT_EQ(gradients[0].to_vector<double>(), (Doubles{2, 12}));
  EXPECT_EQ(gradients[1].to_vector<double>(), (Doubles{0, 8 * std::log(2.0)}));
}

TEST(OverwrittenTensors, AreNotNeededByLerpWithAConstantWeight) {
  const Tensor x = variable({1, 2});
  Tensor mean = x * 3, h = x * 1;
  mean.lerp_(h, 0.25);
  h.add_(1);
  Tensor itself = x * 1;
  itself.lerp_(itself, 0.25);
  const Tensor loss = sum(mean) + sum(h) + sum(itself);
  EXPECT_EQ(autograd::grad({loss}, {x})[0].to_vector<double>(), Doubles(2, 2.25 + 0.25 + 1 + 1));
}

TEST(SavedTensors, AreMissedIfOnlyTheirShapeChanges) {
  const std::vector<std::function<void(const Tensor&)>> changes{
      [](const Tensor& x) { x.t_(); },
      [](const Tensor& x) { x.transpose_(0, 1); },
      [](const Tensor& x) { x.unsqueeze_(0); },
      [](const Tensor& x) { x.unsqueeze_(1).squeeze_(1).t_(); },
      [](const Tensor& x) {
        x.resize_({3, 2});
      },
      [](const Tensor& x) { x.resize_({1}); },
      [](const Tensor& x) { x.set_data(x.slice(1, 0, 1)); }};
  for (const auto& change : changes) {
    const Tensor x = full({2, 3}, 3.0), w = full({2, 3}, 2.0).requires_grad_();
    const Tensor z = sum(x * w);
    change(x);
    EXPECT_NE(message_of<std::runtime_error>([&] { z.backward(); }).find("in-place"),
              std::string::npos);
  }
  const Tensor x = full({2, 3}, 3.0), w = full({2, 3}, 2.0).requires_grad_();
  const Tensor z = sum(x * w);
  x.resize_({2, 3}).squeeze_();
  z.backward();
  EXPECT_EQ(w.grad().to_vector<double>(), std::vector<double>(6, 3));
}

// Elements of the view that its former base lost would get no gradient.
TEST(InPlaceViews, AreRefusedOnceTheBaseIsSmallerOrReplaced) {
  const std::vector<std::function<void(const Tensor&)>> changes{
      [](const Tensor& x) { x.resize_({1}); }, [](const Tensor& x) { x.resize_({200}); },
      [](const Tensor& x) {
        x.set_data(ones({2, 2}));
      }};
  for (const auto& change : changes) {
    const Tensor x = ones({2, 2}), w = ones({4}, {.requires_grad = true});
    const Tensor view = x.view({-1});
    change(x);
    const std::string message = message_of<std::runtime_error>([&] { view.mul_(w); });
    EXPECT_NE(message.find("view within its base"), std::string::npos) << message;
    const NoGradGuard no_grad;
    view.mul_(w);
  }
  const Tensor x = ones({2, 2}), w = ones({2}, {.requires_grad = true});
  const Tensor row = x.select(0, 0);
  x.resize_({2});
  row.mul_(w * 3);
  x.sum().backward();
  EXPECT_EQ(w.grad().to_vector<double>(), (std::vector<double>{3, 3}));
  const Tensor smaller = ones({2, 2}), empty_view = smaller.slice(0, 1, 1);
  smaller.resize_({0});
  empty_view.mul_(ones({0, 2}, {.requires_grad = true}));
  EXPECT_TRUE(empty_view.requires_grad());
}

// A later storage may have the address of the saved one.
TEST(SavedTensors, AreMissedIfTheirDataIsReplaced) {
  for (int replacements = 1; replacements < 6; ++replacements) {
    const Tensor x = full({4}, 2.0), w = full({4}, 1.0).requires_grad_();
    const Tensor z = sum(x * w);
    for (int i = 0; i < replacements; ++i) x.set_data(full({4}, 100.0 + i));
    const std::string message = message_of<std::runtime_error>([&] { z.backward(); });
    EXPECT_TRUE(message.starts_with("backward: expected the elements that 'mul' saved")) << message;
  }
  const Tensor x = full({2}, 2.0), w = full({2}, 1.0).requires_grad_();
  const Tensor z = sum(x * w);
  x.resize_({200});
  EXPECT_NE(message_of<std::runtime_error>([&] { z.backward(); }).find("data has been replaced"),
            std::string::npos);
}

TEST(SavedTensors, KeepNoReplacedData) {
  const Tensor x = full({4}, 2.0), w = full({4}, 1.0).requires_grad_();
  const Tensor z = sum(x * w);
  const std::weak_ptr<Storage> old = x.array().storage();
  x.set_data(full({4}, 3.0));
  EXPECT_TRUE(old.expired()) << "the graph keeps no memory that it can't use";
}

}  // namespace
}  // namespace halfgrad
