#include <halfgrad/compat/nested_list.h>

#include <halfgrad/core/fail.h>

namespace halfgrad::detail {
namespace {

/// Appends the numbers of `list` to `numbers`, and returns its shape.
Shape flattened(const NestedList& list, std::vector<const NestedList*>& numbers) {
  if (list.is_number()) {
    numbers.push_back(&list);
    return {};
  }
  Shape inner;
  for (const NestedList& element : list.elements()) {
    const Shape found = flattened(element, numbers);
    if (&element != list.elements().data() && found != inner) refuse_ragged_list(inner, found);
    inner = found;
  }
  inner.insert(0, static_cast<std::int64_t>(list.elements().size()));
  return inner;
}

}  // namespace

Tensor tensor_of(const NestedList& list, CreationOptions options) {
  std::vector<const NestedList*> numbers;
  const Shape sizes = flattened(list, numbers);
  const DType dtype = numbers.empty() ? get_default_dtype() : numbers.front()->dtype();
  std::vector<double> reals;
  std::vector<std::int64_t> integers;
  for (const NestedList* number : numbers) {
    if (number->dtype() != dtype) {
      fail("tensor", "expected numbers of one type, got {} and {}", dtype, number->dtype());
    }
    reals.push_back(number->value().to<double>());
    if (!is_floating_point(dtype)) integers.push_back(number->value().to<std::int64_t>());
  }
  if (!options.dtype) options.dtype = dtype;
  return is_floating_point(dtype) ? tensor(reals, sizes, options)
                                  : tensor(integers, sizes, options);
}

}  // namespace halfgrad::detail
