#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfgrad/autograd/elementwise_op.h>
#include <halfgrad/autograd/in_place.h>
#include <halfgrad/autograd/op_table.h>

/// The table's entry of an elementwise op, built from its struct F (elementwise_op.h), which states
/// for it, besides the mathematics,
///
///   double reference(double x) const;         // or (a, b), (a, b, c): independent and obvious
///   static constexpr double low, high;        // where to test it
///   static constexpr double low_b, high_b;    // optional: of the second operand, if different
///   static constexpr double roundoffs;        // how many of them the value may be off
namespace halfgrad::detail {

template <class F>
concept Tested = requires {
  { F::name } -> std::convertible_to<std::string>;
  { F::low } -> std::convertible_to<double>;
  { F::high } -> std::convertible_to<double>;
  { F::roundoffs } -> std::convertible_to<double>;
  &F::reference;
};

template <class F>
concept StatesSecondRange = requires {
  F::low_b;
};

/// How many tensors the public function of an op takes.
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

/// Element `index` of row-major `sizes`, as an index into values that broadcast to them.
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

/// f.reference on every element of operands that broadcast.
template <std::size_t N, class F>
Values elementwise_reference(const F& f, const std::vector<Values>& in) {
  Values out;
  for (const Values& operand : in) out.sizes = broadcast_shapes(out.sizes, operand.sizes, F::name);
  for (std::int64_t i = 0; i < numel(out.sizes); ++i) {
    const auto at = [&](std::size_t k) {
      return in[k].data[broadcast_index(out.sizes, in[k].sizes, i)];
    };
    out.data.push_back([&]<std::size_t... K>(std::index_sequence<K...>) {
      return static_cast<double>(f.reference(at(K)...));
    }(std::make_index_sequence<N>{}));
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
  return {.name = F::name,
          .precision = F::precision,
          .roundoffs = F::roundoffs,
          .differentiable = F::differentiable,
          .elementwise = true,
          .examples = elementwise_examples(f, run),
          .method = method,
          .in_place = in_place};
}

/// Further examples: the same op with other parameters.
template <Tested F, class Run>
void add_examples(OpEntry& entry, const F& f, const Run& run, const std::string& prefix) {
  for (OpExample& example : elementwise_examples(f, run, prefix + ", ")) {
    entry.examples.push_back(std::move(example));
  }
}

}  // namespace halfgrad::detail
