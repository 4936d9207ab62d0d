#include <gtest/gtest.h>
#include <halfgrad/core/math/simd.h>

#include <limits>
#include <vector>

namespace halfgrad {
namespace {

template <class T>
class PackTest : public ::testing::Test {
 protected:
  static constexpr int kSize = Pack<T>::size;

  /// Values start, start + step, ...: integers, which every type holds exactly.
  static Pack<T> range(int start, int step = 1) {
    T values[kSize];
    for (int i = 0; i < kSize; ++i) values[i] = static_cast<T>(start + i * step);
    return Pack<T>::load(values);
  }
  template <class Expected>
  static void expect_lanes(Pack<T> actual, Expected expected) {
    for (int i = 0; i < kSize; ++i) EXPECT_EQ(actual[i], expected(i)) << "lane " << i;
  }
};

using Elements = testing::Types<float, double, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(PackTest, Elements);

TYPED_TEST(PackTest, LoadsAndStoresAtAnyAddress) {
  using P = Pack<TypeParam>;
  std::vector<TypeParam> source(3 * P::size), target(source.size(), TypeParam(-1));
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<TypeParam>(i);
  for (int offset = 0; offset < P::size; ++offset) {
    P::load(source.data() + offset).store(target.data() + offset + 1);
    for (int i = 0; i < P::size; ++i) ASSERT_EQ(target[offset + 1 + i], source[offset + i]);
    ASSERT_EQ(target[offset + 1 + P::size], TypeParam(-1));
  }
}

TYPED_TEST(PackTest, ArithmeticActsOnEachLane) {
  using T = TypeParam;
  const Pack<T> a = this->range(5, 3), b = this->range(7, -2) + 20;
  const auto x = [](int i) { return T(5 + 3 * i); };
  const auto y = [](int i) { return T(27 - 2 * i); };
  this->expect_lanes(a + b, [&](int i) { return T(x(i) + y(i)); });
  this->expect_lanes(a - b, [&](int i) { return T(x(i) - y(i)); });
  this->expect_lanes(a * b, [&](int i) { return T(x(i) * y(i)); });
  this->expect_lanes(a / b, [&](int i) { return T(x(i) / y(i)); });
  this->expect_lanes(-a, [&](int i) { return T(-x(i)); });
  Pack<T> c = a;
  c += b;
  c *= 3;
  c -= 2;
  c /= b;
  this->expect_lanes(c, [&](int i) { return T(((x(i) + y(i)) * T(3) - T(2)) / y(i)); });
}

TYPED_TEST(PackTest, ScalarsBroadcastOnEitherSide) {
  const Pack<TypeParam> x = this->range(1);
  this->expect_lanes(1 + x * 2, [](int i) { return TypeParam(1 + (1 + i) * 2); });
  this->expect_lanes(Pack<TypeParam>(7.0), [](int) { return TypeParam(7); });
}

TYPED_TEST(PackTest, ComparisonsSelectAndMasks) {
  using T = TypeParam;
  const Pack<T> a = this->range(0), b = 2;
  const auto chosen = [&](auto mask) { return select(mask, 1, Pack<T>(0)); };
  this->expect_lanes(chosen(a < b), [](int i) { return T(i < 2); });
  this->expect_lanes(chosen(a <= b), [](int i) { return T(i <= 2); });
  this->expect_lanes(chosen(a > b), [](int i) { return T(i > 2); });
  this->expect_lanes(chosen(a >= b), [](int i) { return T(i >= 2); });
  this->expect_lanes(chosen(a == b), [](int i) { return T(i == 2); });
  this->expect_lanes(chosen(a != b), [](int i) { return T(i != 2); });
  this->expect_lanes(chosen((a < b) | (a == 3)), [](int i) { return T(i < 2 || i == 3); });
  this->expect_lanes(chosen((a < b) & !(a == 1)), [](int i) { return T(i == 0); });
}

TYPED_TEST(PackTest, AnyAndAllLookAtEveryLane) {
  const Pack<TypeParam> x = this->range(0);
  EXPECT_FALSE(any(x < 0));
  EXPECT_TRUE(all(x >= 0));
  for (int i = 0; i < this->kSize; ++i) {
    EXPECT_TRUE(any(x == i)) << i;
    EXPECT_FALSE(all(x != i)) << i;
    EXPECT_TRUE((x == i)[i]) << i;
  }
}

TYPED_TEST(PackTest, Reductions) {
  const Pack<TypeParam> x = this->range(3, -2);
  const int n = this->kSize;
  EXPECT_EQ(sum(x), TypeParam(3 * n - n * (n - 1)));
  EXPECT_EQ(max(x), TypeParam(3));
  EXPECT_EQ(min(x), TypeParam(3 - 2 * (n - 1)));
}

TEST(Pack, SumFoldsTheUpperHalfOntoTheLower) {
  // 2^24 + 1 rounds to 2^24, so any other order gives another sum.
  constexpr int n = Pack<float>::size;
  float x[n] = {};
  x[0] = 0x1p24f;
  x[n / 2] = 1;
  x[1] = 1;
  EXPECT_EQ(sum(Pack<float>::load(x)), 0x1p24f);
  x[1] = 0;
  x[n / 2] = -0x1p24f;
  x[1] = 1;
  EXPECT_EQ(sum(Pack<float>::load(x)), 1);
  for (float& value : x) value = 0;
  x[0] = 0x1p24f;
  x[1] = 1;
  x[1 + n / 2] = 1;
  EXPECT_EQ(sum(Pack<float>::load(x)), 0x1p24f + 2);
}

TEST(Pack, NaNPropagatesThroughMinAndMaxFromEveryLane) {
  for (int i = 0; i < Pack<float>::size; ++i) {
    float x[Pack<float>::size] = {};
    x[i] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_NE(max(Pack<float>::load(x)), max(Pack<float>::load(x))) << i;
    EXPECT_NE(min(Pack<float>::load(x)), min(Pack<float>::load(x))) << i;
  }
}

TEST(Pack, BroadcastKeepsTheSignOfZero) {
  EXPECT_EQ(1 / Pack<float>(-0.0f)[0], -std::numeric_limits<float>::infinity());
  EXPECT_EQ(1 / (-Pack<float>(0.0f))[0], -std::numeric_limits<float>::infinity());
}

/// One formula for all types.
template <class T>
T clipped_cube(T x) {
  return select(x > 1, T(1), 0.5 * x * x * x);
}

TEST(Pack, FormulasReadTheSameForScalarsAndPacks) {
  static_assert(std::is_same_v<scalar_t<Pack<float>>, float>);
  static_assert(std::is_same_v<scalar_t<double>, double>);
  static_assert(std::is_same_v<mask_t<double>, bool>);
  static_assert(std::is_same_v<mask_t<Pack<double>>, Mask<double>>);
  for (double x : {-2.0, 0.25, 1.0, 3.0}) {
    EXPECT_EQ(clipped_cube(Pack<double>(x))[0], clipped_cube(x));
    EXPECT_EQ(clipped_cube(Pack<float>(x))[0], static_cast<float>(clipped_cube(x)));
  }
}

}  // namespace
}  // namespace halfgrad
