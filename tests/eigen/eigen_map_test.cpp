#include <halfgrad/eigen.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad {
namespace {

template <class Map>
concept Writable = requires(Map map) {
  map(0, 0) = typename Map::Scalar(1);
};
template <class T>
concept MapsToEigen = requires(T&& tensor) {
  eigen_map<float>(std::forward<T>(tensor));
};
static_assert(MapsToEigen<Tensor&> && MapsToEigen<const Tensor&>);
static_assert(!MapsToEigen<Tensor> && !MapsToEigen<const Tensor>, "a temporary's memory may end");

using Float = decltype(eigen_map<float>(std::declval<Tensor&>()));
static_assert(Writable<Float>);
static_assert(!Writable<decltype(eigen_map<const float>(std::declval<Tensor&>()))>);
static_assert(!Writable<decltype(eigen_map<float>(std::declval<const Tensor&>()))>);

// Writes row * 4 + column through a map of a [3, 4] tensor, and reads it from the tensor.
template <class T>
void expect_round_trip(DType dtype) {
  SCOPED_TRACE(std::string(name(dtype)));
  Tensor tensor = zeros({3, 4}, dtype);
  auto map = eigen_map<T>(tensor);
  ASSERT_EQ(map.rows(), 3);
  ASSERT_EQ(map.cols(), 4);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) map(i, j) = T(i * 4 + j);
  }
  const auto expected = arange(12).reshape({3, 4}).to(dtype);
  EXPECT_TRUE(equal(tensor, expected)) << tensor;
  EXPECT_TRUE((eigen_map<const T>(tensor).array() == eigen_map<T>(expected).array()).all());

  Tensor vector = arange(5).to(dtype);
  auto elements = eigen_map<T, 1>(vector);
  elements[4] = T(1);
  EXPECT_EQ(vector.to_vector<double>(), (std::vector<double>{0, 1, 2, 3, 1}));
}

TEST(EigenMap, EveryDTypeIsMappedInPlace) {
  expect_round_trip<double>(kDouble);
  expect_round_trip<float>(kFloat);
  expect_round_trip<Eigen::half>(kHalf);
  expect_round_trip<Eigen::bfloat16>(kBFloat16);
  expect_round_trip<std::int64_t>(kLong);
  expect_round_trip<std::int32_t>(kInt);
  expect_round_trip<std::int16_t>(kShort);
  expect_round_trip<std::int8_t>(kChar);
  expect_round_trip<std::uint8_t>(kByte);
}

TEST(EigenMap, BoolIsMapped) {
  Tensor mask = zeros({2, 2}, kBool);
  eigen_map<bool>(mask)(1, 0) = true;
  EXPECT_TRUE(equal(mask, tensor({{false, false}, {true, false}})));
}

TEST(EigenMap, SixteenBitTypesHaveTheSameBits) {
  manual_seed(1);
  const Tensor wide = randn({64, 3});
  const Tensor half = wide.to(kHalf);
  const Tensor bfloat = wide.to(kBFloat16);
  const auto x = eigen_map<float>(wide);
  EXPECT_TRUE((eigen_map<Eigen::half>(half).array() == x.cast<Eigen::half>().array()).all());
  EXPECT_TRUE(
      (eigen_map<Eigen::bfloat16>(bfloat).array() == x.cast<Eigen::bfloat16>().array()).all());
}

TEST(EigenMap, StridesAreHonoured) {
  Tensor whole = arange(60).reshape({5, 12});
  Tensor columns = whole.slice(1, 1, 12, 3);  // [5, 4], strides 12 and 3
  Tensor transposed = columns.transpose(0, 1);
  Tensor column = whole.select(1, 7);
  const auto map = eigen_map<std::int64_t>(columns);
  const auto flipped = eigen_map<std::int64_t>(transposed);
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 4; ++j) {
      EXPECT_EQ(map(i, j), 12 * i + 1 + 3 * j);
      EXPECT_EQ(flipped(j, i), map(i, j));
    }
  }
  eigen_map<std::int64_t, 1>(column).setConstant(-1);
  EXPECT_EQ(whole.sum().item<std::int64_t>(), 59 * 60 / 2 - (5 * 7 + 12 * 10) - 5);
}

TEST(EigenMap, AnExpandedTensorIsReadButNotWritten) {
  Tensor row = arange(3).to(kFloat);
  Tensor expanded = row.expand({4, 3});
  const auto map = eigen_map<const float>(expanded);
  EXPECT_EQ(map.colwise().sum(), Eigen::RowVector3f(0, 4, 8));
  EXPECT_EQ(message_of<std::invalid_argument>([&] { eigen_map<float>(expanded); }),
            "eigen_map: expected elements with memory of their own, got shape [4, 3] with strides "
            "[0, 1]; clone() it first");
}

TEST(EigenMap, EmptyTensorsGiveEmptyMaps) {
  Tensor rows = zeros({0, 3});
  Tensor vector = zeros({0});
  EXPECT_EQ(eigen_map<float>(rows).rows(), 0);
  EXPECT_EQ(eigen_map<float>(rows).cols(), 3);
  EXPECT_EQ((eigen_map<float, 1>(vector).sum()), 0);
}

TEST(EigenMap, ProductsOfViewsAreThoseOfMatmul) {
  manual_seed(2);
  const Tensor a = randint(-8, 9, {7, 9}).to(kDouble);  // sums of small integers are exact
  const Tensor b = randint(-8, 9, {5, 9}).to(kDouble);
  const Tensor b_transposed = b.transpose(0, 1);
  Tensor product = empty({7, 5}, kDouble);
  eigen_map<double>(product) = eigen_map<double>(a) * eigen_map<double>(b_transposed);
  EXPECT_TRUE(equal(product, matmul(a, b_transposed))) << product;
}

TEST(EigenMap, ErrorsNameTheFix) {
  const Tensor half = zeros({2, 3}, kHalf);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { eigen_map<float>(half); }),
            "eigen_map: expected a tensor of float32, got float16; map it as "
            "eigen_map<Eigen::half>, or convert it first");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { eigen_map<Eigen::half, 1>(half); }),
            "eigen_map: expected a vector, got shape [2, 3]; take eigen_map<Eigen::half> for a "
            "matrix, or flatten() it");
  const Tensor scalar = tensor(1.0);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { eigen_map<float>(scalar); }),
            "eigen_map: expected a matrix, got shape []; take eigen_map<float, 1> for a vector, or "
            "reshape() it");
  const Tensor undefined;
  EXPECT_NE(message_of<std::runtime_error>([&] { eigen_map<float>(undefined); }), "no error");
}

TEST(EigenMap, WritesIntoATensorThatRequiresGradNeedNoGrad) {
  Tensor weight = ones({2, 2}, {.requires_grad = true});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { eigen_map<float>(weight); }),
            "eigen_map: expected a tensor that does not require grad, got one that does: autograd "
            "does not see what Eigen writes; read it by a const map, or write inside NoGradGuard");
  EXPECT_EQ(eigen_map<const float>(weight).sum(), 4);
  const NoGradGuard no_grad;
  eigen_map<float>(weight).setZero();
  EXPECT_EQ(weight.sum().item(), 0);
}

TEST(EigenMap, BackwardReportsASavedTensorThatWasMappedForWriting) {
  const Tensor x = ones({2, 2}, {.requires_grad = true});
  Tensor factor = full({2, 2}, 3.0);
  const Tensor unharmed = (x * factor).sum();
  static_cast<void>(eigen_map<const float>(factor));
  unharmed.backward();
  EXPECT_EQ(x.grad().sum().item(), 12);

  const Tensor loss = (x * factor).sum();
  eigen_map<float>(factor).setZero();
  EXPECT_NE(message_of<std::runtime_error>([&] { loss.backward(); }).find("mul"),
            std::string::npos);
}

}  // namespace
}  // namespace halfgrad
