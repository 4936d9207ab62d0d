#pragma once

#include <concepts>
#include <cstdint>

#include <halfgrad/core/shape.h>

namespace halfgrad {

/// One dimension, or several: `x.sum(0)`, `x.sum({0, 1})`. A bool is neither.
class Dims : public Shape {
 public:
  using Shape::Shape;
  Dims() = default;
  Dims(const Shape& dims) : Shape(dims) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Dims(T dim) : Shape{static_cast<std::int64_t>(dim)} {}
};

}  // namespace halfgrad
