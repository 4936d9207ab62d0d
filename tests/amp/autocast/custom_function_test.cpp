#include <halfgrad/amp/custom_function.h>

#include <map>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/amp/scaler/tensors.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad::amp {
namespace {

using autograd::AutogradContext;
using autograd::variable_list;

Tensor one_by_one(double value, DType dtype) { return filled({1, 1}, value, dtype); }

/// The state of autocast inside a function, and the dtype of its first tensor.
struct View {
  bool enabled = false;
  DType fast = kHalf;
  DType tensor = kFloat;
  friend bool operator==(const View&, const View&) = default;
};
View view(const Tensor& tensor) {
  return {is_autocast_enabled(default_device_type()), get_autocast_dtype(default_device_type()),
          tensor.dtype()};
}
std::ostream& operator<<(std::ostream& out, const View& v) {
  return out << (v.enabled ? "enabled " : "disabled ") << name(v.fast) << ", " << name(v.tensor);
}

/// y = x w, which needs operands of one dtype where autocast does not cast them.
struct Product : autograd::Function<Product> {
  static inline View forward_saw, backward_saw;

  static Tensor forward(AutogradContext* ctx, Tensor x, Tensor w, std::optional<DType> cast) {
    if (!cast) {
      custom_fwd(ctx, default_device_type());
      return multiply(ctx, x, w);
    }
    const auto autocast = custom_fwd(ctx, default_device_type(), *cast, x, w);
    return multiply(ctx, x, w);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto autocast = custom_bwd(ctx, default_device_type());
    backward_saw = view(grads[0]);
    const variable_list saved = ctx->get_saved_variables();
    return {mm(grads[0], saved[1]), mm(saved[0], grads[0])};
  }

 private:
  static Tensor multiply(AutogradContext* ctx, const Tensor& x, const Tensor& w) {
    forward_saw = view(x);
    ctx->save_for_backward({x, w});
    return mm(x, w);
  }
};

struct FunctionCase {
  const char* what;
  std::optional<DType> cast;
  bool in_region;
  DType input;
  View forward;
  DType output;
  View backward;
};

const FunctionCase kFunctionCases[] = {
    {"cast none, in region", {}, true, f, {true, h, f}, h, {true, h, h}},
    {"cast none, outside", {}, false, f, {false, h, f}, f, {false, h, f}},
    {"cast fp32, in region", f, true, f, {false, h, f}, f, {false, h, f}},
    {"cast bf16, in region", b, true, f, {false, h, b}, b, {false, h, b}},
    {"cast fp32, fp16 inputs", f, true, h, {false, h, f}, f, {false, h, f}},
    {"cast bf16, outside", b, false, f, {false, h, f}, f, {false, h, f}},
    {"cast fp32, fp64 inputs", f, true, d, {false, h, d}, d, {false, h, d}},
};

// y = 3 * 5, exact in every dtype; backward called outside and inside another region.
TEST(CustomFunction, ForwardAndBackwardUseTheExpectedRegionAndDTypes) {
  for (const FunctionCase& c : kFunctionCases) {
    for (const bool backward_in_region : {false, true}) {
      SCOPED_TRACE(std::string(c.what) + (backward_in_region ? ", backward inside" : ""));
      const Tensor x = one_by_one(3, c.input).requires_grad_();
      const Tensor w = one_by_one(5, c.input).requires_grad_();
      Tensor y;
      {
        const Autocast autocast(default_device_type(), kHalf, c.in_region);
        y = Product::apply(x, w, c.cast);
        EXPECT_EQ(is_autocast_enabled(default_device_type()),
                  c.in_region);  // the guard is destroyed
      }
      EXPECT_EQ(Product::forward_saw, c.forward);
      EXPECT_EQ(y.dtype(), c.output);
      EXPECT_EQ(y.item(), 15);
      {
        const Autocast autocast(default_device_type(), kBFloat16, backward_in_region);
        y.backward();
        EXPECT_EQ(is_autocast_enabled(default_device_type()), backward_in_region);
      }
      EXPECT_EQ(Product::backward_saw, c.backward);
      EXPECT_EQ(x.grad().dtype(), c.input);
      EXPECT_EQ(x.grad().item(), 5);
      EXPECT_EQ(w.grad().item(), 3);
    }
  }
}

TEST(CustomFunction, BackwardHasTheDTypeOfForward) {
  const Tensor x = one_by_one(3, f).requires_grad_();
  Tensor y;
  {
    const Autocast autocast(default_device_type(), kBFloat16);
    y = Product::apply(x, x, std::nullopt);
  }
  y.backward();
  EXPECT_EQ(Product::backward_saw, (View{true, b, b}));
}

TEST(CustomFunction, CastsTensorsInContainersAndNothingElse) {
  AutogradContext ctx;
  Tensor tensor = one_by_one(1, f), integer = one_by_one(1, kLong), omitted;
  std::vector<std::vector<Tensor>> lists{{one_by_one(1, f), one_by_one(1, d)}, {one_by_one(1, h)}};
  std::map<std::string, Tensor> named{{"a", one_by_one(1, f)}};
  const std::string text = "text";
  double number = 0.1;
  const Autocast autocast(default_device_type());
  const auto disabled = custom_fwd(&ctx, default_device_type(), kBFloat16, tensor, integer, omitted,
                                   lists, named, text, number);
  EXPECT_EQ(tensor.dtype(), b);
  EXPECT_EQ(integer.dtype(), kLong);
  EXPECT_FALSE(omitted.defined());
  EXPECT_EQ(lists[0][0].dtype(), b);
  EXPECT_EQ(lists[0][1].dtype(), d);
  EXPECT_EQ(lists[1][0].dtype(), b);
  EXPECT_EQ(named["a"].dtype(), b);
  EXPECT_EQ(number, 0.1);
}

TEST(CustomFunction, LeavesOtherDeviceTypesAlone) {
  AutogradContext ctx;
  Tensor x = one_by_one(1, f);
  const Autocast autocast(default_device_type(), kBFloat16);
  const auto region = custom_fwd(&ctx, other_device_type(), kHalf, x);
  EXPECT_EQ(view(x), (View{true, b, f}));
  const auto backward = custom_bwd(&ctx, other_device_type());
  EXPECT_EQ(view(x), (View{true, b, f}));
}

struct Throws : autograd::Function<Throws> {
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    const auto autocast = custom_fwd(ctx, default_device_type(), kFloat, x);
    throw std::domain_error("forward");
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return grads; }
};

TEST(CustomFunction, AnExceptionRestoresTheRegion) {
  const Autocast autocast(default_device_type());
  EXPECT_THROW(Throws::apply(one_by_one(1, f)), std::domain_error);
  EXPECT_TRUE(is_autocast_enabled(default_device_type()));
}

TEST(CustomFunction, BackwardNeedsItsForward) {
  AutogradContext ctx;
  custom_fwd(&ctx, other_device_type());
  EXPECT_NO_THROW((void)custom_bwd(&ctx, other_device_type()));
  EXPECT_THROW((void)custom_bwd(&ctx, default_device_type()), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::amp
