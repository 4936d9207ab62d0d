#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>

#include "float_operands.h"

namespace halfgrad::emulator {
namespace {

template <class T>
T clamped(long double x, T of_nan) {
  if (std::isnan(x)) return of_nan;
  if (x <= static_cast<long double>(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  if (x >= static_cast<long double>(std::numeric_limits<T>::max()))
    return std::numeric_limits<T>::max();
  return static_cast<T>(x);
}

TEST(Conversions, FloatsToIntegersClamp) {
  const auto in = close_floats(kCases);
  const auto test = [&](const std::string& body, auto wanted) {
    const Words got = run_ptx(body, in);
    for (std::size_t i = 0; i < kCases; ++i)
      ASSERT_EQ(got[i], wanted(in[0][i])) << body << std::hex << in[0][i];
  };
  const auto single = [](std::uint64_t x) -> long double {
    return std::bit_cast<float>(static_cast<std::uint32_t>(x));
  };
  const auto wide = [](std::uint64_t x) -> long double { return std::bit_cast<double>(x); };
  test("cvt.rzi.s32.f32 %tw0, %f0; cvt.u64.u32 %result, %tw0;", [&](auto x) {
    return static_cast<std::uint32_t>(clamped<std::int32_t>(std::trunc(single(x)), 0));
  });
  test("cvt.rni.u32.f32 %tw0, %f0; cvt.u64.u32 %result, %tw0;",
       [&](auto x) { return clamped<std::uint32_t>(std::nearbyint(single(x)), 0); });
  test("cvt.rmi.s32.f64 %tw0, %d0; cvt.u64.u32 %result, %tw0;", [&](auto x) {
    return static_cast<std::uint32_t>(clamped<std::int32_t>(std::floor(wide(x)), INT32_MIN));
  });
  test("cvt.rpi.s64.f64 %result, %d0;", [&](auto x) {
    return static_cast<std::uint64_t>(clamped<std::int64_t>(std::ceil(wide(x)), INT64_MIN));
  });
  test("cvt.rzi.u64.f32 %result, %f0;", [&](auto x) {
    return clamped<std::uint64_t>(std::trunc(single(x)), std::uint64_t{1} << 63);
  });
  test("cvt.rzi.s16.f32 %th0, %f0; cvt.u64.u16 %result, %th0;", [&](auto x) {
    return static_cast<std::uint16_t>(clamped<std::int16_t>(std::trunc(single(x)), 0));
  });
}

TEST(Conversions, IntegersToFloatsInEveryRoundingMode) {
  const auto in = operands(1, kCases, 4);
  for (const Mode& mode : kModes) {
    const auto test = [&]<class Result, class Source>(std::string body, Result, Source) {
      const Words got = run_ptx(with_mode(body, mode.name), in);
      for (std::size_t i = 0; i < kCases; ++i) {
        volatile Source x = static_cast<Source>(in[0][i]);
        std::fesetround(mode.host);
        volatile Result result = static_cast<Result>(x);
        std::fesetround(FE_TONEAREST);
        const Result wanted = result;
        using Bits = std::conditional_t<sizeof(Result) == 4, std::uint32_t, std::uint64_t>;
        ASSERT_EQ(got[i], std::bit_cast<Bits>(wanted)) << body << mode.name << std::hex << in[0][i];
      }
    };
    const std::string out = "mov.b32 %tw0, %tf0; cvt.u64.u32 %result, %tw0;";
    test("cvt.MODE.f32.s32 %tf0, %w0;" + out, float{}, std::int32_t{});
    test("cvt.MODE.f32.s64 %tf0, %a0;" + out, float{}, std::int64_t{});
    test("cvt.MODE.f64.s64 %td0, %a0; mov.b64 %result, %td0;", double{}, std::int64_t{});
  }
}

}  // namespace
}  // namespace halfgrad::emulator
