#pragma once

#include <halfgrad/compat/names.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/compat/array_ref.h>
#include <halfgrad/compat/data/example.h>
#include <halfgrad/compat/serialize/archive.h>
#include <halfgrad/core/fail.h>

/// libtorch's datasets: classes derived from datasets::Dataset<Self>, which define get() and
/// size().
namespace halfgrad::data::datasets {

template <class D, class T>
class MapDataset;

/// A dataset that is asked for batches.
template <class Self, class Batch = std::vector<Example<>>, class Request = ArrayRef<std::size_t>>
class BatchDataset {
 public:
  using SelfType = Self;
  using BatchType = Batch;
  using BatchRequestType = Request;
  static constexpr bool is_stateful = false;

  virtual ~BatchDataset() = default;
  virtual Batch get_batch(Request request) = 0;
  virtual std::optional<std::size_t> size() const = 0;

  /// The dataset whose batches are those of this one after `transform.apply_batch`.
  template <class Transform>
  MapDataset<Self, Transform> map(Transform transform) & {
    return {static_cast<Self&>(*this), std::move(transform)};
  }
  template <class Transform>
  MapDataset<Self, Transform> map(Transform transform) && {
    return {std::move(static_cast<Self&>(*this)), std::move(transform)};
  }
};

/// A dataset that is asked for samples by their indices.
template <class Self, class Sample = Example<>>
class Dataset : public BatchDataset<Self, std::vector<Sample>> {
 public:
  using ExampleType = Sample;

  virtual Sample get(std::size_t index) = 0;

  std::vector<Sample> get_batch(ArrayRef<std::size_t> indices) override {
    std::vector<Sample> batch;
    batch.reserve(indices.size());
    for (const std::size_t index : indices) batch.push_back(get(index));
    return batch;
  }
};

/// A dataset that is asked for a number of samples, and chooses them.
template <class Self, class Batch = std::vector<Example<>>>
using StreamDataset = BatchDataset<Self, Batch, std::size_t>;

/// A dataset with a position of its own: get_batch() returns nothing at the end of an epoch, and
/// reset() starts the next one.
template <class Self, class Batch = std::vector<Example<>>, class Request = std::size_t>
class StatefulDataset : public BatchDataset<Self, std::optional<Batch>, Request> {
 public:
  static constexpr bool is_stateful = true;
  virtual void reset() = 0;
  /// For halfgrad::save() and load(), if the class defines them: its position.
  virtual void save(serialize::OutputArchive& /*archive*/) const { refuse("save"); }
  virtual void load(serialize::InputArchive& /*archive*/) { refuse("load"); }

 private:
  [[noreturn]] static void refuse(const char* function) {
    halfgrad::detail::fail("StatefulDataset", "expected a dataset that defines {}(), got another",
                           function);
  }
};

/// The batches of a dataset after a transform.
template <class D, class T>
class MapDataset
    : public BatchDataset<
          MapDataset<D, T>,
          std::conditional_t<D::is_stateful, std::optional<typename T::OutputBatchType>,
                             typename T::OutputBatchType>,
          typename D::BatchRequestType> {
 public:
  using DatasetType = D;
  using TransformType = T;
  using BatchRequestType = typename D::BatchRequestType;
  using OutputBatchType =
      std::conditional_t<D::is_stateful, std::optional<typename T::OutputBatchType>,
                         typename T::OutputBatchType>;
  static constexpr bool is_stateful = D::is_stateful;

  MapDataset(D dataset, T transform)
      : dataset_(std::move(dataset)), transform_(std::move(transform)) {}

  OutputBatchType get_batch(BatchRequestType request) override {
    if constexpr (is_stateful) {
      auto batch = dataset_.get_batch(std::move(request));
      if (!batch) return std::nullopt;
      return transform_.apply_batch(std::move(*batch));
    } else {
      return transform_.apply_batch(dataset_.get_batch(std::move(request)));
    }
  }
  std::optional<std::size_t> size() const noexcept override { return dataset_.size(); }
  void reset() requires(D::is_stateful) { dataset_.reset(); }

  const D& dataset() const { return dataset_; }
  const T& transform() const { return transform_; }

 private:
  D dataset_;
  T transform_;
};

/// Applies `transform` to the batches of `dataset`.
template <class D, class T>
MapDataset<D, T> map(D dataset, T transform) {
  return {std::move(dataset), std::move(transform)};
}

/// One dataset that all workers of a data loader share.
template <class Original>
class SharedBatchDataset
    : public BatchDataset<SharedBatchDataset<Original>, typename Original::BatchType,
                          typename Original::BatchRequestType> {
 public:
  using BatchType = typename Original::BatchType;
  using BatchRequestType = typename Original::BatchRequestType;
  static constexpr bool is_stateful = Original::is_stateful;

  explicit SharedBatchDataset(std::shared_ptr<Original> shared) : dataset_(std::move(shared)) {}

  BatchType get_batch(BatchRequestType request) override {
    return dataset_->get_batch(std::move(request));
  }
  std::optional<std::size_t> size() const override { return dataset_->size(); }
  void reset() requires(Original::is_stateful) { dataset_->reset(); }

  Original& operator*() { return *dataset_; }
  const Original& operator*() const { return *dataset_; }
  Original* operator->() { return dataset_.get(); }
  const Original* operator->() const { return dataset_.get(); }

 private:
  std::shared_ptr<Original> dataset_;
};

template <class D, class... Args>
SharedBatchDataset<D> make_shared_dataset(Args&&... args) {
  return SharedBatchDataset<D>(std::make_shared<D>(std::forward<Args>(args)...));
}

/// The rows of one tensor, without targets.
class TensorDataset : public Dataset<TensorDataset, TensorExample> {
 public:
  explicit TensorDataset(const std::vector<Tensor>& tensors) : TensorDataset(stack(tensors)) {}
  explicit TensorDataset(Tensor rows) : tensor(std::move(rows)) {}

  TensorExample get(std::size_t index) override { return tensor[static_cast<std::int64_t>(index)]; }
  std::optional<std::size_t> size() const override {
    return static_cast<std::size_t>(tensor.size(0));
  }

  Tensor tensor;
};

}  // namespace halfgrad::data::datasets

namespace halfgrad::data {

using datasets::BatchDataset;
using datasets::Dataset;

}  // namespace halfgrad::data
