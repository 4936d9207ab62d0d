#include <halfgrad/dist/host/combine.h>

#include <algorithm>
#include <concepts>
#include <type_traits>

#include <halfgrad/core/numbers/convert.h>

namespace halfgrad::dist {
namespace {

constexpr std::int64_t kBlock = 1024;  // elements; two blocks of float stay in the L1 cache

template <class T>
constexpr bool kIsReduced = std::same_as<T, Half> || std::same_as<T, BFloat16>;

// The type in which elements stored as T are combined. Unsigned integers wrap around.
template <class T>
using Accumulator = std::conditional_t<
    std::integral<T>, std::conditional_t<std::same_as<T, bool>, bool, std::uint64_t>, compute_t<T>>;

template <class T>
void load(const T* in, Accumulator<T>* out, std::int64_t n) {
  if constexpr (kIsReduced<T>) {
    widen(in, out, n);
  } else {
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<Accumulator<T>>(in[i]);
  }
}

template <class T>
void store(const Accumulator<T>* in, T* out, std::int64_t n) {
  if constexpr (kIsReduced<T>) {
    narrow(in, out, n);
  } else {
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(in[i]);
  }
}

template <class T>
void add(Accumulator<T>* sum, const Accumulator<T>* x, std::int64_t n) {
  if constexpr (std::same_as<T, bool>) {
    for (std::int64_t i = 0; i < n; ++i) sum[i] = sum[i] || x[i];
  } else {
    for (std::int64_t i = 0; i < n; ++i) sum[i] += x[i];
  }
}

template <class T>
bool exceeds(Accumulator<T> x, Accumulator<T> largest) {
  if constexpr (std::integral<T>) {
    return static_cast<T>(x) > static_cast<T>(largest);
  } else {
    return x > largest || x != x;  // x != x: NaN wins
  }
}

template <class T>
void take_larger(Accumulator<T>* largest, const Accumulator<T>* x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    largest[i] = exceeds<T>(x[i], largest[i]) ? x[i] : largest[i];
  }
}

template <class T>
void combine_block(ReduceOp op, std::span<const std::byte* const> operands, std::byte* out,
                   std::int64_t at, std::int64_t n) {
  Accumulator<T> result[kBlock], loaded[kBlock];
  load(reinterpret_cast<const T*>(operands[0]) + at, result, n);
  for (const std::byte* const operand : operands.subspan(1)) {
    const auto* const elements = reinterpret_cast<const T*>(operand) + at;
    const Accumulator<T>* x = loaded;
    if constexpr (std::same_as<T, Accumulator<T>>) {
      x = elements;
    } else {
      load(elements, loaded, n);
    }
    op == ReduceOp::max ? take_larger<T>(result, x, n) : add<T>(result, x, n);
  }
  if constexpr (std::floating_point<Accumulator<T>>) {
    if (op == ReduceOp::average) {
      const auto ranks = static_cast<Accumulator<T>>(operands.size());
      for (std::int64_t i = 0; i < n; ++i) result[i] /= ranks;
    }
  }
  store(result, reinterpret_cast<T*>(out) + at, n);
}

}  // namespace

void combine(DType dtype, ReduceOp op, std::span<const std::byte* const> operands, std::byte* out,
             std::int64_t n) {
  visit(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t at = 0; at < n; at += kBlock) {
      combine_block<T>(op, operands, out, at, std::min(kBlock, n - at));
    }
  });
}

}  // namespace halfgrad::dist
