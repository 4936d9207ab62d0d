#include <halfgrad/emulator/nccl/reduction.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <halfgrad/emulator/ptx/instructions/float_formats.h>

namespace halfgrad::emulator {
namespace {

constexpr std::array<const char*, ncclNumTypes> kTypeNames = {
    "int8",    "uint8",   "int32",   "uint32",   "int64",      "uint64",
    "float16", "float32", "float64", "bfloat16", "float8e4m3", "float8e5m2"};
constexpr std::array<std::size_t, ncclNumTypes> kTypeBytes = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

/// An element that is stored as it is computed with.
template <class T>
struct Plain {
  using Stored = T;
  using Value = T;
  static Value load(Stored x) { return x; }
  static Stored store(Value x) { return x; }
};
/// A small float: one operation is computed in float and rounded.
template <class Format, class T>
struct Small {
  using Stored = T;
  using Value = float;
  static Value load(Stored x) { return widen<Format>(x); }
  static Stored store(Value x) {
    return static_cast<Stored>(narrow<Format, Rounding::nearest>(double{x}));
  }
};

template <class F>
void with_kind(ncclDataType_t type, F f) {
  switch (type) {
    case ncclInt8:
      return f(Plain<std::int8_t>{});
    case ncclUint8:
      return f(Plain<std::uint8_t>{});
    case ncclInt32:
      return f(Plain<std::int32_t>{});
    case ncclUint32:
      return f(Plain<std::uint32_t>{});
    case ncclInt64:
      return f(Plain<std::int64_t>{});
    case ncclUint64:
      return f(Plain<std::uint64_t>{});
    case ncclFloat16:
      return f(Small<F16, std::uint16_t>{});
    case ncclFloat32:
      return f(Plain<float>{});
    case ncclFloat64:
      return f(Plain<double>{});
    case ncclBfloat16:
      return f(Small<BF16, std::uint16_t>{});
    case ncclFloat8e4m3:
      return f(Small<E4M3, std::uint8_t>{});
    case ncclFloat8e5m2:
      return f(Small<E5M2, std::uint8_t>{});
    default:
      return;
  }
}

/// Integers wrap around; floats are computed as they are.
template <class T, class F>
T wrapping(T a, T b, F f) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(f(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
  } else {
    return f(a, b);
  }
}

template <class T>
T combine(T a, T b, ncclRedOp_t op) {
  switch (op) {
    case ncclProd:
      return wrapping(a, b, [](auto x, auto y) { return x * y; });
    case ncclMax:
      return a < b || b != b ? b : a;
    case ncclMin:
      return b < a || b != b ? b : a;
    default:
      return wrapping(a, b, [](auto x, auto y) { return x + y; });
  }
}

/// An average of floats is a sum of x / n; one of integers divides the sum.
template <class T>
T before_sum(T x, const Reduction& reduction, std::size_t ranks) {
  if (reduction.op >= ncclNumOps) {
    return wrapping(x, static_cast<T>(reduction.factor), [](auto a, auto b) { return a * b; });
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (reduction.op == ncclAvg) return x * (T(1) / static_cast<T>(ranks));
  }
  return x;
}

template <class Kind>
void reduce_all(const std::vector<const std::byte*>& ranks, std::size_t begin, std::size_t end,
                std::size_t count, const Reduction& reduction, std::byte* result) {
  using Stored = typename Kind::Stored;
  using Value = typename Kind::Value;
  const std::size_t n = ranks.size();
  const auto element = [&](std::size_t rank, std::size_t i) {
    Stored stored;
    std::memcpy(&stored, ranks[rank] + i * sizeof stored, sizeof stored);
    return Kind::store(before_sum<Value>(Kind::load(stored), reduction, n));
  };
  for (std::size_t i = begin; i < end; ++i) {
    const std::size_t first = i * n / count + 1;
    Stored total = element(first % n, i);
    for (std::size_t k = 1; k < n; ++k) {
      const Stored next = element((first + k) % n, i);
      total = Kind::store(combine<Value>(Kind::load(total), Kind::load(next), reduction.op));
    }
    if constexpr (std::is_integral_v<Value>) {
      if (reduction.op == ncclAvg) total = static_cast<Stored>(total / static_cast<Value>(n));
    }
    std::memcpy(result + (i - begin) * sizeof total, &total, sizeof total);
  }
}

}  // namespace

bool is_type(ncclDataType_t type) { return type >= 0 && type < ncclNumTypes; }
std::size_t bytes_of(ncclDataType_t type) { return kTypeBytes.at(type); }
std::string name_of(ncclDataType_t type) { return kTypeNames.at(type); }

double value_of(const void* element, ncclDataType_t type) {
  double value = 0;
  with_kind(type, [&](auto kind) {
    typename decltype(kind)::Stored stored;
    std::memcpy(&stored, element, sizeof stored);
    value = static_cast<double>(kind.load(stored));
  });
  return value;
}

std::string name_of(const Reduction& reduction) {
  constexpr std::array<const char*, ncclNumOps> kNames = {"sum", "product", "max", "min",
                                                          "average"};
  return reduction.op < ncclNumOps ? kNames.at(reduction.op) : "sum of products";
}

void reduce(const std::vector<const std::byte*>& ranks, std::size_t begin, std::size_t end,
            std::size_t count, ncclDataType_t type, const Reduction& reduction, std::byte* result) {
  with_kind(type, [&](auto kind) {
    reduce_all<decltype(kind)>(ranks, begin, end, count, reduction, result);
  });
}

}  // namespace halfgrad::emulator
