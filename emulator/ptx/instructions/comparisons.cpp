#include <halfgrad/emulator/ptx/instructions/comparisons.h>

#include <array>
#include <type_traits>
#include <utility>

#include <halfgrad/emulator/ptx/instructions/half_lanes.h>

namespace halfgrad::emulator {
namespace {

template <Comparison C, class T>
constexpr bool compare(T a, T b) {
  switch (C) {
    case Comparison::eq:
      return a == b;
    case Comparison::ne:
      return a < b || a > b;
    case Comparison::lt:
      return a < b;
    case Comparison::le:
      return a <= b;
    case Comparison::gt:
      return a > b;
    case Comparison::ge:
      return a >= b;
    case Comparison::equ:
      return !(a < b || a > b);
    case Comparison::neu:
      return !(a == b);
    case Comparison::ltu:
      return !(a >= b);
    case Comparison::leu:
      return !(a > b);
    case Comparison::gtu:
      return !(a <= b);
    case Comparison::geu:
      return !(a < b);
    case Comparison::num:
      return a == a && b == b;
    case Comparison::nan:
      return a != a || b != b;
  }
}

/// Collects a condition of all lanes in a mask.
template <class F>
LaneMask mask_of(F condition) {
  LaneMask mask = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) mask |= LaneMask{condition(lane)} << lane;
  return mask;
}

/// Reader of the 32 values of a type.
template <class T>
struct PlainValue {
  using Element = T;
  static T first(T x) { return x; }
};

struct FlushedValue {
  using Element = float;
  static float first(float x) { return flush(x); }
};

template <class Format, bool Ftz>
struct HalfValue {
  using Element = std::uint16_t;
  static float first(std::uint16_t x) { return widen<Format>(Ftz ? flush_half<Format>(x) : x); }
};

template <class Format, bool Ftz>
struct HalfPairValue {
  using Element = std::uint32_t;
  static float first(std::uint32_t x) {
    return HalfValue<Format, Ftz>::first(static_cast<std::uint16_t>(x));
  }
  static float second(std::uint32_t x) { return first(x >> 16); }
};

template <class Read, Comparison C>
Compared on_lanes(const std::byte* first, const std::byte* second) {
  const auto* a = reinterpret_cast<const typename Read::Element*>(first);
  const auto* b = reinterpret_cast<const typename Read::Element*>(second);
  const LaneMask holds =
      mask_of([=](unsigned l) { return compare<C>(Read::first(a[l]), Read::first(b[l])); });
  if constexpr (requires { Read::second(a[0]); }) {
    return {holds, mask_of([=](unsigned l) {
              return compare<C>(Read::second(a[l]), Read::second(b[l]));
            })};
  }
  return {holds, ~holds};
}

/// All comparisons of a type: a table, as the operator is one of 14.
template <class Read>
CompareLanes choose_comparison(Comparison comparison) {
  using Value = decltype(Read::first(typename Read::Element{}));
  constexpr std::size_t kFloat = 14, kInteger = 6;
  constexpr std::size_t n = std::is_floating_point_v<Value> ? kFloat : kInteger;
  static constexpr auto kTable = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<CompareLanes, sizeof...(I)>{&on_lanes<Read, static_cast<Comparison>(I)>...};
  }
  (std::make_index_sequence<n>{});
  const auto index = static_cast<std::size_t>(comparison);
  return index < n ? kTable[index] : nullptr;
}

template <template <class, bool> class Read, class Format>
CompareLanes choose_half_comparison(Comparison comparison, bool ftz) {
  return ftz ? choose_comparison<Read<Format, true>>(comparison)
             : choose_comparison<Read<Format, false>>(comparison);
}

}  // namespace

CompareLanes compare_lanes(Type type, Comparison comparison, bool ftz) {
  switch (type) {
    case Type::b16:
    case Type::u16:
      return choose_comparison<PlainValue<std::uint16_t>>(comparison);
    case Type::s16:
      return choose_comparison<PlainValue<std::int16_t>>(comparison);
    case Type::b32:
    case Type::u32:
      return choose_comparison<PlainValue<std::uint32_t>>(comparison);
    case Type::s32:
      return choose_comparison<PlainValue<std::int32_t>>(comparison);
    case Type::b64:
    case Type::u64:
      return choose_comparison<PlainValue<std::uint64_t>>(comparison);
    case Type::s64:
      return choose_comparison<PlainValue<std::int64_t>>(comparison);
    case Type::f32:
      return ftz ? choose_comparison<FlushedValue>(comparison)
                 : choose_comparison<PlainValue<float>>(comparison);
    case Type::f64:
      return choose_comparison<PlainValue<double>>(comparison);
    case Type::f16:
      return choose_half_comparison<HalfValue, F16>(comparison, ftz);
    case Type::bf16:
      return choose_half_comparison<HalfValue, BF16>(comparison, ftz);
    case Type::f16x2:
      return choose_half_comparison<HalfPairValue, F16>(comparison, ftz);
    case Type::bf16x2:
      return choose_half_comparison<HalfPairValue, BF16>(comparison, ftz);
    default:
      return nullptr;
  }
}

std::optional<Comparison> comparison_named(std::string_view name) {
  using enum Comparison;
  static constexpr std::array<std::pair<std::string_view, Comparison>, 18> kNames = {{
      {"eq", eq},
      {"ne", ne},
      {"lt", lt},
      {"le", le},
      {"gt", gt},
      {"ge", ge},
      {"lo", lt},
      {"ls", le},
      {"hi", gt},
      {"hs", ge},
      {"equ", equ},
      {"neu", neu},
      {"ltu", ltu},
      {"leu", leu},
      {"gtu", gtu},
      {"geu", geu},
      {"num", num},
      {"nan", nan},
  }};
  for (const auto& [known, comparison] : kNames) {
    if (known == name) return comparison;
  }
  return std::nullopt;
}

}  // namespace halfgrad::emulator
