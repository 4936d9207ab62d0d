#include <halfgrad/autograd/composed/counting.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include <nanobind/stl/variant.h>

#include <halfgrad/python/bindings/op_binder.h>
#include <halfgrad/python/bindings/unique_slices.h>

/// Functions of autograd/composed/counting.h.
namespace halfgrad::python {
namespace {

/// One tensor, or those of three that were asked for.
using Unique = std::variant<Tensor, TensorTuple>;

Unique asked_for(const std::tuple<Tensor, Tensor, Tensor>& results, bool inverse, bool counts) {
  if (!inverse && !counts) return std::get<0>(results);
  TensorTuple asked{{std::get<0>(results)}};
  if (inverse) asked.tensors.push_back(std::get<1>(results));
  if (counts) asked.tensors.push_back(std::get<2>(results));
  return asked;
}

void bind_distinct(OpBinder& ops) {
  ops.both(
      "unique",
      [](const Tensor& input, bool is_sorted, bool inverse, bool counts,
         std::optional<std::int64_t> dim) {
        if (dim) {
          const auto found = unique_slices("unique", input, *dim, false);
          return asked_for({found.slices.detach(), found.inverse, found.counts}, inverse, counts);
        }
        return asked_for(_unique2(input, is_sorted, inverse, counts), inverse, counts);
      },
      "sorted"_a = true, "return_inverse"_a = false, "return_counts"_a = false,
      "dim"_a = nb::none(),
      "The distinct elements, or slices along `dim`, always sorted; on request also the index of\n"
      "each element among them, and how often each occurs.");
  ops.both(
      "unique_consecutive",
      [](const Tensor& input, bool inverse, bool counts, std::optional<std::int64_t> dim) {
        if (dim) {
          const auto found = unique_slices("unique_consecutive", input, *dim, true);
          return asked_for({found.slices, found.inverse, found.counts}, inverse, counts);
        }
        return asked_for(unique_consecutive(input, inverse, counts), inverse, counts);
      },
      "return_inverse"_a = false, "return_counts"_a = false, "dim"_a = nb::none(),
      "The flattened elements, or the slices along `dim`, without those that equal the one "
      "before;\n"
      "see unique().");
}

void bind_isin(OpBinder& ops) {
  using OfTensors = Tensor (*)(const Tensor&, const Tensor&, bool, bool);
  using InNumber = Tensor (*)(const Tensor&, Scalar, bool, bool);
  using OfNumber = Tensor (*)(Scalar, const Tensor&, bool, bool);
  const auto bind = [&](auto function, const char* elements, const char* tests) {
    ops.function("isin", function, nb::arg(elements), nb::arg(tests), nb::kw_only(),
                 "assume_unique"_a = false, "invert"_a = false,
                 "True where an element equals one of `test_elements`; one of the two may be a "
                 "number.");
  };
  bind(OfTensors(&isin), "elements", "test_elements");
  bind(InNumber(&isin), "elements", "test_element");
  bind(OfNumber(&isin), "element", "test_elements");
}

void bind_searches(OpBinder& ops) {
  const auto bind = [&]<class Sought>(std::type_identity<Sought>) {
    ops.function(
        "searchsorted",
        [](const Tensor& sequence, Sought input, bool out_int32, bool right,
           std::optional<std::string_view> side, const OptionalTensor& sorter) {
          return searchsorted(sequence, input, out_int32, right, side, or_undefined(sorter));
        },
        "sorted_sequence"_a, "input"_a, nb::kw_only(), "out_int32"_a = false, "right"_a = false,
        "side"_a = nb::none(), "sorter"_a = nb::none(),
        "The positions at which elements can be put into a sorted sequence: before equal ones, or\n"
        "with right=True (side=\"right\") after them. The sequence is a vector, or a row for each "
        "row of\n`input`. With `sorter`, the result of argsort(), it need not be sorted.");
    ops.function("bucketize",
                 static_cast<Tensor (*)(Sought, const Tensor&, bool, bool)>(&bucketize), "input"_a,
                 "boundaries"_a, nb::kw_only(), "out_int32"_a = false, "right"_a = false,
                 "The intervals between boundaries that hold the elements: "
                 "searchsorted(boundaries, input).");
  };
  bind(std::type_identity<const Tensor&>());
  bind(std::type_identity<Scalar>());
}

}  // namespace

void bind_composed_counting(nb::module_& module, TensorClass& tensor) {
  OpBinder ops(module, tensor);
  bind_distinct(ops);
  bind_isin(ops);
  bind_searches(ops);
  ops.both("argwhere", &argwhere, "nonzero().");
  ops.both(
      "bincount",
      [](const Tensor& input, const OptionalTensor& weights, std::int64_t minlength) {
        return bincount(input, or_undefined(weights), minlength);
      },
      "weights"_a = nb::none(), "minlength"_a = 0,
      "How often each integer 0, 1, ... occurs in a vector, or the sum of its weights.");
  ops.both("histc", &histc, "bins"_a = 100, "min"_a = 0, "max"_a = 0,
           "The number of elements in each of `bins` intervals of one width from min to max; of "
           "those of\nthe elements for equal limits. Others are not counted.");
}

}  // namespace halfgrad::python
