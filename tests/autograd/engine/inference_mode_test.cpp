#include <string>

#include <gtest/gtest.h>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// A tensor created in InferenceMode is an inference tensor; a view of a tensor from outside is not.
namespace halfgrad {
namespace {

struct ViewCase {
  const char* what;
  Tensor (*view)(const Tensor&);
};
const ViewCase kViews[] = {
    {"select", [](const Tensor& x) { return x[0]; }},
    {"slice", [](const Tensor& x) { return x.slice(0, 1); }},
    {"view", [](const Tensor& x) { return x.view(-1); }},
    {"transpose", [](const Tensor& x) { return x.t(); }},
    {"expand",
     [](const Tensor& x) {
       return x.expand({3, 2, 2});
     }},
    {"diagonal", [](const Tensor& x) { return x.diagonal(); }},
    {"as_strided", [](const Tensor& x) { return x.as_strided({2}, {2}); }},
    {"unbind", [](const Tensor& x) { return x.unbind()[1]; }},
    {"detach", [](const Tensor& x) { return x.detach(); }},
};

TEST(InferenceModeViews, OfAnOrdinaryTensorAreOrdinary) {
  const Tensor x = elements({1, 2, 3, 4}).reshape({2, 2});
  for (const ViewCase& c : kViews) {
    SCOPED_TRACE(c.what);
    Tensor view;
    {
      const InferenceMode inference;
      view = c.view(x);
      EXPECT_FALSE(view.is_inference());
    }
    const Tensor leaf = ones_like(view, {.requires_grad = true});
    (leaf * view).sum().backward();  // saves the view
    EXPECT_EQ(elements(leaf.grad()), elements(view));
  }
}

TEST(InferenceModeViews, OfAnInferenceTensorAreInferenceTensors) {
  Tensor inside;
  {
    const InferenceMode inference;
    inside = ones({2, 2}, kDouble);
    for (const ViewCase& c : kViews) EXPECT_TRUE(c.view(inside).is_inference()) << c.what;
  }
  for (const ViewCase& c : kViews) EXPECT_TRUE(c.view(inside).is_inference()) << c.what;
}

TEST(InferenceModeViews, RefuseRecordedInPlaceChangesLater) {
  const Tensor x = elements({1, 2}).requires_grad_() * 1;
  Tensor view;
  {
    const InferenceMode inference;
    view = x[0];
    EXPECT_TRUE((x * 2).is_inference());
    EXPECT_TRUE(x.t().reshape({1, 2}).clone().is_inference());
  }
  const std::string message = message_of([&] { view.mul_(elements({2}).requires_grad_()[0]); });
  EXPECT_EQ(message.find("mul_: expected a tensor that owns its elements, got a view"), 0U)
      << message;
}

}  // namespace
}  // namespace halfgrad
