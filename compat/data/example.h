#pragma once

#include <halfgrad/compat/names.h>

#include <utility>

#include <halfgrad/autograd/tensor.h>

/// libtorch's names for one sample of a dataset.
namespace halfgrad::data {

namespace example {
struct NoTarget {};  ///< stands for the target of samples that have none
}  // namespace example

/// The input of a model and what it should predict: one sample, or a batch of stacked samples.
template <class Data = Tensor, class Target = Tensor>
struct Example {
  using DataType = Data;
  using TargetType = Target;

  Example() = default;
  Example(Data new_data, Target new_target)
      : data(std::move(new_data)), target(std::move(new_target)) {}

  Data data;
  Target target;
};

template <class Data>
struct Example<Data, example::NoTarget> {
  using DataType = Data;
  using TargetType = example::NoTarget;

  Example() = default;
  Example(Data new_data) : data(std::move(new_data)) {}
  operator Data&() { return data; }
  operator const Data&() const { return data; }

  Data data;
};

using TensorExample = Example<Tensor, example::NoTarget>;

}  // namespace halfgrad::data
