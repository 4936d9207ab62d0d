#include <halfgrad/core/dtype.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/tests/json.h>

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
static_assert(std::is_same_v<compute_t<std::int8_t>, std::int64_t>);
static_assert(std::is_same_v<compute_t<std::int16_t>, std::int64_t>);
static_assert(std::is_same_v<compute_t<bool>, std::int64_t>);

static_assert(dtype_of<BFloat16>() == kBFloat16 && dtype_of<bool>() == kBool);
static_assert(kShort == kInt16 && kChar == kInt8 && kByte == kUInt8);

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
    {kInt16, "int16", 2, false, false, 0},          {kInt8, "int8", 1, false, false, 0},
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

// tests/expected/small_integers.py asked torch.promote_types.
TEST(DType, PromotionOfAllPairs) {
  const tests::Json expected = tests::expected("small_integers.json");
  const auto position = [&](DType dtype) {
    const std::vector<tests::Json>& names = expected["dtypes"].items;
    const auto is_named = [&](const tests::Json& other) { return other.text == name(dtype); };
    return static_cast<std::size_t>(std::ranges::find_if(names, is_named) - names.begin());
  };
  ASSERT_EQ(expected["dtypes"].size(), std::size(kAllDTypes));
  for (const DType a : kAllDTypes) {
    for (const DType b : kAllDTypes) {
      EXPECT_EQ(name(promote_types(a, b)), expected["promotion"][position(a)][position(b)].text)
          << a << " with " << b;
    }
  }
}

// Kernels that were compiled before know these values.
TEST(DType, EnumeratorsKeepTheirValues) {
  int value = 0;
  for (const DType dtype :
       {kFloat64, kFloat32, kFloat16, kBFloat16, kInt64, kInt32, kUInt8, kBool, kInt16, kInt8}) {
    EXPECT_EQ(static_cast<int>(dtype), value++) << dtype;
  }
}

}  // namespace
}  // namespace halfgrad
