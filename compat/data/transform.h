#pragma once

#include <halfgrad/compat/names.h>

#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/compat/array_ref.h>
#include <halfgrad/compat/data/example.h>

/// libtorch's transforms of samples and batches, for `dataset.map(...)`.
namespace halfgrad::data::transforms {

/// Maps a batch to a batch.
template <class Input, class Output>
class BatchTransform {
 public:
  using InputBatchType = Input;
  using OutputBatchType = Output;

  virtual ~BatchTransform() = default;
  virtual Output apply_batch(Input input_batch) = 0;
};

/// Maps each sample of a batch.
template <class Input, class Output>
class Transform : public BatchTransform<std::vector<Input>, std::vector<Output>> {
 public:
  using InputType = Input;
  using OutputType = Output;

  virtual Output apply(Input input) = 0;

  std::vector<Output> apply_batch(std::vector<Input> input_batch) override {
    std::vector<Output> outputs;
    outputs.reserve(input_batch.size());
    for (Input& input : input_batch) outputs.push_back(apply(std::move(input)));
    return outputs;
  }
};

/// A transform of batches that calls a function.
template <class Input, class Output = Input>
class BatchLambda : public BatchTransform<Input, Output> {
 public:
  using FunctionType = std::function<Output(Input)>;

  explicit BatchLambda(FunctionType function) : function_(std::move(function)) {}
  Output apply_batch(Input input_batch) override { return function_(std::move(input_batch)); }

 private:
  FunctionType function_;
};

/// A transform of samples that calls a function.
template <class Input, class Output = Input>
class Lambda : public Transform<Input, Output> {
 public:
  using FunctionType = std::function<Output(Input)>;

  explicit Lambda(FunctionType function) : function_(std::move(function)) {}
  Output apply(Input input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

/// Transforms of the data of an Example that leave its target.
template <class Target = Tensor>
class TensorTransform : public Transform<Example<Tensor, Target>, Example<Tensor, Target>> {
 public:
  virtual Tensor operator()(Tensor input) = 0;

  Example<Tensor, Target> apply(Example<Tensor, Target> input) override {
    input.data = (*this)(std::move(input.data));
    return input;
  }
};

template <class Target = Tensor>
class TensorLambda : public TensorTransform<Target> {
 public:
  using FunctionType = std::function<Tensor(Tensor)>;

  explicit TensorLambda(FunctionType function) : function_(std::move(function)) {}
  Tensor operator()(Tensor input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

/// One value, or one for each channel.
class ChannelValues {
 public:
  ChannelValues(double value) : values_{value} {}
  ChannelValues(std::vector<double> values) : values_(std::move(values)) {}
  ChannelValues(std::initializer_list<double> values) : values_(values) {}
  ChannelValues(ArrayRef<double> values) : values_(values.vec()) {}

  /// [channels, 1, 1] for an input of `dtype`.
  Tensor tensor(DType dtype) const {
    return halfgrad::tensor(values_, {.dtype = dtype}).view({-1, 1, 1});
  }

 private:
  std::vector<double> values_;
};

/// (data - mean) / stddev for each channel of an image [channels, height, width].
template <class Target = Tensor>
class Normalize : public TensorTransform<Target> {
 public:
  Normalize(ChannelValues mean, ChannelValues stddev)
      : mean_(std::move(mean)), stddev_(std::move(stddev)) {}

  Tensor operator()(Tensor input) override {
    return (input - mean_.tensor(input.dtype())) / stddev_.tensor(input.dtype());
  }

 private:
  ChannelValues mean_, stddev_;
};

/// Makes one T of a batch.
template <class T, class BatchType = std::vector<T>>
using Collation = BatchTransform<BatchType, T>;
template <class T, class BatchType = std::vector<T>>
using Collate = BatchLambda<BatchType, T>;

/// Stacks the tensors of a vector of Examples into one Example.
template <class T = Example<>>
struct Stack;

template <>
struct Stack<Example<>> : BatchTransform<std::vector<Example<>>, Example<>> {
  Example<> apply_batch(std::vector<Example<>> examples) override {
    std::vector<Tensor> data, targets;
    for (Example<>& example : examples) {
      data.push_back(std::move(example.data));
      targets.push_back(std::move(example.target));
    }
    return {stack(data), stack(targets)};
  }
};

template <>
struct Stack<TensorExample> : BatchTransform<std::vector<TensorExample>, TensorExample> {
  TensorExample apply_batch(std::vector<TensorExample> examples) override {
    std::vector<Tensor> data;
    for (TensorExample& example : examples) data.push_back(std::move(example.data));
    return {stack(data)};
  }
};

}  // namespace halfgrad::data::transforms
