#include <halfgrad/core/dtype.h>

#include <cstddef>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace halfgrad {
namespace {

template <class T>
concept Arithmetic = requires(T a, T b) {
  a + b;
}
|| requires(T a, T b) { a - b; }
|| requires(T a, T b) { a* b; }
|| requires(T a, T b) { a / b; }
|| requires(T a, T b) { a < b; }
|| requires(T a, T b) { a == b; }
|| requires(T a, T b) { a += b; }
|| requires(T a) { -a; }
|| requires(T a) { a + 1.0f; }
|| requires(T a) { a * 2; };

static_assert(Arithmetic<float>);
static_assert(!Arithmetic<Half> && !Arithmetic<BFloat16>);
static_assert(!std::is_convertible_v<float, Half> && !std::is_convertible_v<Half, float>);
static_assert(!std::is_convertible_v<float, BFloat16> && !std::is_convertible_v<BFloat16, float>);
static_assert(std::is_trivially_copyable_v<Half> && sizeof(Half) == 2);
static_assert(std::is_trivially_copyable_v<BFloat16> && sizeof(BFloat16) == 2);

static_assert(std::is_same_v<compute_t<double>, double>);
static_assert(std::is_same_v<compute_t<float>, float>);
static_assert(std::is_same_v<compute_t<Half>, float>);
static_assert(std::is_same_v<compute_t<BFloat16>, float>);
static_assert(std::is_same_v<compute_t<std::uint8_t>, std::int64_t>);
static_assert(std::is_same_v<compute_t<bool>, std::int64_t>);

static_assert(dtype_of<BFloat16>() == kBFloat16 && dtype_of<bool>() == kBool);

struct Facts {
  DType dtype;
  const char* name;
  std::int64_t item_size;
  bool floating_point, reduced;
  double roundoff;
};

constexpr Facts kFacts[] = {
    {kFloat64, "float64", 8, true, false, 0x1p-53}, {kFloat32, "float32", 4, true, false, 0x1p-24},
    {kFloat16, "float16", 2, true, true, 0x1p-11},  {kBFloat16, "bfloat16", 2, true, true, 0x1p-8},
    {kInt64, "int64", 8, false, false, 0},          {kInt32, "int32", 4, false, false, 0},
    {kUInt8, "uint8", 1, false, false, 0},          {kBool, "bool", 1, false, false, 0},
};

TEST(DType, PropertiesOfEachDtype) {
  for (const Facts& facts : kFacts) {
    SCOPED_TRACE(facts.name);
    EXPECT_EQ(name(facts.dtype), facts.name);
    EXPECT_EQ(item_size(facts.dtype), facts.item_size);
    EXPECT_EQ(is_floating_point(facts.dtype), facts.floating_point);
    EXPECT_EQ(is_reduced(facts.dtype), facts.reduced);
    EXPECT_EQ(roundoff(facts.dtype), facts.roundoff);
    visit(facts.dtype,
          [&](auto tag) { EXPECT_EQ(dtype_of<typename decltype(tag)::type>(), facts.dtype); });
    std::ostringstream out;
    out << facts.dtype;
    EXPECT_EQ(out.str(), facts.name);
  }
}

// Results of torch.promote_types for row and column, in the order of kAllDTypes.
TEST(DType, PromotionOfAllPairs) {
  constexpr DType f64 = kFloat64, f32 = kFloat32, f16 = kFloat16, b16 = kBFloat16;
  constexpr DType i64 = kInt64, i32 = kInt32, u08 = kUInt8, boo = kBool;
  constexpr DType expected[8][8] = {
      {f64, f64, f64, f64, f64, f64, f64, f64}, {f64, f32, f32, f32, f32, f32, f32, f32},
      {f64, f32, f16, f32, f16, f16, f16, f16}, {f64, f32, f32, b16, b16, b16, b16, b16},
      {f64, f32, f16, b16, i64, i64, i64, i64}, {f64, f32, f16, b16, i64, i32, i32, i32},
      {f64, f32, f16, b16, i64, i32, u08, u08}, {f64, f32, f16, b16, i64, i32, u08, boo},
  };
  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      const DType a = kAllDTypes[row], b = kAllDTypes[column];
      EXPECT_EQ(promote_types(a, b), expected[row][column]) << name(a) << " with " << name(b);
    }
  }
}

}  // namespace
}  // namespace halfgrad
