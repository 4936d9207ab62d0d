#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/allocator.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad {
namespace {

std::string refused(const std::function<void()>& f) {
  allocator::fail_allocation(get_default_device(), 1);
  const std::string message = message_of<OutOfMemoryError>(f);
  allocator::fail_allocation(get_default_device(), 0);
  return message.substr(0, message.find(" on "));
}

TEST(MemoryErrors, NameTheOpAndTheShapeThatItAskedFor) {
  const Tensor a = zeros({64, 32}), b = zeros({32, 128});
  EXPECT_EQ(refused([&] { mm(a, b); }), "mm: expected 32.00 KiB for float32 [64, 128]");
  EXPECT_EQ(refused([&] { exp(a); }), "exp: expected 8.00 KiB for float32 [64, 32]");
  EXPECT_EQ(refused([&] { empty({3}, {.dtype = kHalf}); }),
            "empty: expected 6 bytes for float16 [3]");
}

TEST(MemoryErrors, NameTheOpWhoseBackwardFailed) {
  const Tensor a = zeros({4, 8}).requires_grad_();
  const Tensor y = exp(a), g = ones({4, 8});
  EXPECT_EQ(refused([&] { y.backward(g); }), "exp: expected 128 bytes for float32 [4, 8]");
}

}  // namespace
}  // namespace halfgrad
