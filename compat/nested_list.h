#pragma once

#include <halfgrad/compat/names.h>

#include <initializer_list>
#include <vector>

#include <halfgrad/autograd/creation.h>

namespace halfgrad {
namespace detail {

/// A number, or a list of such elements: the literals that the templates of creation.h do not
/// take, which are empty lists and lists of four dimensions or more.
class NestedList {
 public:
  template <Literal T>
  NestedList(T value) : value_(value), dtype_(literal_dtype<T>()), is_number_(true) {}
  NestedList(std::initializer_list<NestedList> elements) : elements_(elements) {}

  bool is_number() const { return is_number_; }
  Scalar value() const { return value_; }
  /// The dtype of a number.
  DType dtype() const { return dtype_; }
  const std::vector<NestedList>& elements() const { return elements_; }

 private:
  Scalar value_ = 0;
  DType dtype_ = DType::f32;
  bool is_number_ = false;
  std::vector<NestedList> elements_;
};

/// Throws std::invalid_argument for lists of unequal shape and for elements of several dtypes.
Tensor tensor_of(const NestedList& list, CreationOptions options);

}  // namespace detail

/// `tensor({{{{1, 2}}}})` and `tensor({})`. dtype when absent: that of the elements, or
/// get_default_dtype() if there is none.
inline Tensor tensor(std::initializer_list<detail::NestedList> values,
                     const CreationOptions& options = {}) {
  return detail::tensor_of(detail::NestedList(values), options);
}
Tensor tensor(std::initializer_list<detail::NestedList> values, detail::OneOption auto option) {
  return tensor(values, detail::only(option));
}

}  // namespace halfgrad
