#include <halfgrad/autograd/tensor/tensor_accessor.h>

#include <stdexcept>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad {
namespace {

TEST(TensorAccessorOnCpu, FollowsStrides) {
  const Tensor x = arange(24, {.dtype = kFloat32}).reshape({2, 3, 4});
  const Tensor view = x.transpose(0, 2).slice(0, 1, 4, 2);  // [2, 3, 2]
  const auto a = view.accessor<float, 3>();
  EXPECT_EQ(a.size(0), 2);
  EXPECT_EQ(a[0].size(0), 3);
  EXPECT_EQ(a.stride(1), 4);
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) {
      for (std::int64_t k = 0; k < 2; ++k) {
        EXPECT_EQ(a[i][j][k], static_cast<float>(12 * k + 4 * j + 2 * i + 1));
      }
    }
  }
}

TEST(TensorAccessorOnCpu, WritesTheElementsThatItReads) {
  const Tensor x = zeros({2, 2}, {.dtype = kHalf});
  const Tensor second = x.select(1, 1);
  second.accessor<Half, 1>()[0] = Half(0.5F);
  EXPECT_EQ(x.to_vector<double>(), (std::vector<double>{0, 0.5, 0, 0}));
  static_assert(std::is_same_v<decltype(x.accessor<const Half, 2>()[0][0]), const Half&>);
}

TEST(TensorAccessorOnCpu, ErrorsNameWhatIsExpected) {
  const Tensor x = zeros({2, 3});
  EXPECT_EQ(message_of([&] { x.accessor<float, 1>(); }),
            "accessor: expected a tensor of 1 dimensions, got shape [2, 3]");
  EXPECT_EQ(message_of([&] { x.accessor<double, 2>(); }),
            "accessor: expected a tensor of float64, got float32");
  const Tensor undefined;
  EXPECT_THROW((undefined.accessor<float, 1>()), std::runtime_error);
}

}  // namespace
}  // namespace halfgrad
