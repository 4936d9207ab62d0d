#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfgrad/autograd/graph/elementwise_op.h>
#include <halfgrad/autograd/graph/in_place.h>
#include <halfgrad/autograd/op_table/op_table.h>

/// The table's entry of an elementwise op, built from its struct F (elementwise_op.h). Besides the
/// formula and its derivative, F states how to test it:
///
///   static constexpr double low, high;        // operands are drawn from here
///   static constexpr double low_b, high_b;    // optional: the range of the second operand
///   static constexpr double roundoffs;        // the tolerance; 0: the op does not round
///
/// and a reference, independent and obvious: in double if the op does not round, otherwise on an
/// AnyArithmetic, so that the kernel checker can bound the error of every step.
///
///   double reference(double x) const;                               // or (x, y), (x, y, z)
///   Bounded reference(const AnyArithmetic& a, Bounded x) const;
namespace halfgrad::detail {

template <class F>
concept Tested = requires {
  { F::name } -> std::convertible_to<std::string>;
  { F::low } -> std::convertible_to<double>;
  { F::high } -> std::convertible_to<double>;
  { F::roundoffs } -> std::convertible_to<double>;
  &F::reference;
};

/// The reference of F, an op of several operands, is stated on AnyArithmetic.
template <class F, class... Operands>
concept BoundsErrors = requires(const F& f, const AnyArithmetic& a, Operands... x) {
  { f.reference(a, x...) } -> std::same_as<Bounded>;
};
template <class F, std::size_t N>
inline constexpr bool kBoundsErrors = N == 1   ? BoundsErrors<F, Bounded>
                                      : N == 2 ? BoundsErrors<F, Bounded, Bounded>
                                               : BoundsErrors<F, Bounded, Bounded, Bounded>;

template <class F>
concept StatesSecondRange = requires {
  F::low_b;
};

/// The number of tensors that the public function of an op takes.
template <class Run>
constexpr std::size_t operand_count() {
  if constexpr (std::is_invocable_v<Run, Tensor>) {
    return 1;
  } else if constexpr (std::is_invocable_v<Run, Tensor, Tensor>) {
    return 2;
  } else {
    return 3;
  }
}

/// Index of the element of `operand` that broadcasting pairs with element `index` of row-major
/// `sizes`.
inline std::size_t broadcast_index(const Shape& sizes, const Shape& operand, std::int64_t index) {
  std::int64_t result = 0;
  std::int64_t stride = 1;
  for (int i = sizes.size() - 1, k = operand.size() - 1; k >= 0; --i, --k) {
    if (operand[k] != 1) result += index % sizes[i] * stride;
    index /= sizes[i];
    stride *= operand[k];
  }
  return static_cast<std::size_t>(result);
}

inline Shape broadcast_sizes(const char* op, const std::vector<Values>& in) {
  Shape sizes;
  for (const Values& operand : in) sizes = broadcast_shapes(sizes, operand.sizes, op);
  return sizes;
}

/// reference(x, y, ...) of every element of N operands that broadcast.
template <std::size_t N, class Reference>
auto map_elements(const char* op, const std::vector<Values>& in, const Reference& reference) {
  const Shape sizes = broadcast_sizes(op, in);
  const auto element = [&](std::int64_t i) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return reference(in[K].data[broadcast_index(sizes, in[K].sizes, i)]...);
    }
    (std::make_index_sequence<N>{});
  };
  std::vector<decltype(element(0))> out;
  out.reserve(static_cast<std::size_t>(numel(sizes)));
  for (std::int64_t i = 0; i < numel(sizes); ++i) out.push_back(element(i));
  return out;
}

/// f.reference of every element, in the arithmetic `a`.
template <std::size_t N, class F>
Elements bounded_elements(const F& f, const AnyArithmetic& a, const std::vector<Values>& in) {
  return map_elements<N>(F::name, in, [&](auto... x) { return f.reference(a, a.number(x)...); });
}

/// f.reference of every element, in double.
template <std::size_t N, class F>
Values elementwise_reference(const F& f, const std::vector<Values>& in) {
  Values out{broadcast_sizes(F::name, in), {}};
  if constexpr (kBoundsErrors<F, N>) {
    for (const Bounded& y : bounded_elements<N>(f, AnyArithmetic(), in))
      out.data.push_back(y.value);
  } else {
    out.data = map_elements<N>(F::name, in,
                               [&](auto... x) { return static_cast<double>(f.reference(x...)); });
  }
  return out;
}

template <class F>
OperandSpec operand_spec(std::size_t position, const Shape& sizes) {
  OperandSpec spec{sizes, F::low, F::high, OperandSpec::Kind::number, F::differentiable};
  if constexpr (StatesSecondRange<F>) {
    if (position == 1) std::tie(spec.low, spec.high) = std::pair(F::low_b, F::high_b);
  }
  return spec;
}

/// Examples of f, computed by `run`: equal shapes and, for several operands, shapes that broadcast.
template <Tested F, class Run>
std::vector<OpExample> elementwise_examples(const F& f, const Run& run,
                                            const std::string& prefix = "") {
  constexpr std::size_t kCount = operand_count<Run>();
  OpExample example;
  example.run = [run](const std::vector<Tensor>& in) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) { return run(in[K]...); }
    (std::make_index_sequence<kCount>{});
  };
  example.reference = [f](const std::vector<Values>& in) {
    return elementwise_reference<kCount>(f, in);
  };
  std::vector<OpExample> examples;
  const auto add_example = [&](const std::string& what, const std::vector<Shape>& sizes) {
    example.name = prefix + what;
    example.operands.clear();
    for (std::size_t i = 0; i < kCount; ++i) {
      example.operands.push_back(operand_spec<F>(i, sizes[i % sizes.size()]));
    }
    examples.push_back(example);
  };
  add_example("plain", {{5, 13}});
  if constexpr (kCount > 1) {
    add_example("broadcast", {{5, 1}, {3, 1, 4}});
    add_example("0-dimensional", {{2, 5}, {}});
  }
  return examples;
}

/// The entry of f, whose public function is `run`, and which may be a method of Tensor too.
template <Tested F, class Run>
OpEntry elementwise_entry(const F& f, const Run& run, UnaryMethod method = nullptr,
                          UnaryInPlaceMethod in_place = nullptr) {
  OpEntry entry{.name = F::name,
                .precision = F::precision,
                .roundoffs = F::roundoffs,
                .differentiable = F::differentiable,
                .elementwise = true,
                .examples = elementwise_examples(f, run),
                .method = method,
                .in_place = in_place};
  constexpr std::size_t kCount = operand_count<Run>();
  if constexpr (kBoundsErrors<F, kCount>) {
    entry.bounded_reference = [f](const AnyArithmetic& a, const std::vector<Values>& in) {
      return bounded_elements<kCount>(f, a, in);
    };
  }
  return entry;
}

/// Adds examples of the same op with other parameters.
template <Tested F, class Run>
void add_examples(OpEntry& entry, const F& f, const Run& run, const std::string& prefix) {
  for (OpExample& example : elementwise_examples(f, run, prefix + ", ")) {
    entry.examples.push_back(std::move(example));
  }
}

}  // namespace halfgrad::detail
