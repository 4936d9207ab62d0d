#pragma once

#include <halfgrad/compat/names.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/compat/serialize/archive.h>
#include <halfgrad/core/fail.h>

/// libtorch's samplers: which samples the next batch consists of.
namespace halfgrad::data::samplers {

/// Chooses the samples of one epoch. reset() starts an epoch, of `new_size` samples if it is given;
/// next() returns the next request for a dataset, or nothing at the end of the epoch.
template <class Request = std::vector<std::size_t>>
class Sampler {
 public:
  using BatchRequestType = Request;

  virtual ~Sampler() = default;
  virtual void reset(std::optional<std::size_t> new_size) = 0;
  virtual std::optional<Request> next(std::size_t batch_size) = 0;
  /// For halfgrad::save() and load(). The position in an epoch, and what it depends on.
  virtual void save(serialize::OutputArchive& /*archive*/) const {}
  virtual void load(serialize::InputArchive& /*archive*/) {}
};

/// A request that a dataset of its own kind understands. Samplers derive from it.
class CustomBatchRequest {
 public:
  CustomBatchRequest() = default;
  CustomBatchRequest(const CustomBatchRequest&) = default;
  CustomBatchRequest& operator=(const CustomBatchRequest&) = default;
  virtual ~CustomBatchRequest() = default;
  virtual std::size_t size() const = 0;
};

namespace detail {

/// Positions 0 ... size - 1 of an epoch, cut into batches.
class Positions {
 public:
  explicit Positions(std::size_t size) : size_(size) {}

  std::size_t size() const { return size_; }
  std::size_t index() const { return index_; }
  void reset(std::optional<std::size_t> new_size) {
    size_ = new_size.value_or(size_);
    index_ = 0;
  }
  void save(serialize::OutputArchive& archive) const {
    archive.write("index", tensor(static_cast<std::int64_t>(index_)));
    archive.write("size", tensor(static_cast<std::int64_t>(size_)));
  }
  /// Throws std::invalid_argument for an index outside the epoch.
  static Positions loaded(serialize::InputArchive& archive) {
    Tensor index = tensor(std::int64_t{0}), size = tensor(std::int64_t{0});
    archive.read("index", index);
    archive.read("size", size);
    const auto at = index.item<std::int64_t>(), end = size.item<std::int64_t>();
    if (at < 0 || at > end) {
      halfgrad::detail::fail("load", "expected a sampler's index in [0, size], got {} of size {}",
                             at, end);
    }
    Positions positions(static_cast<std::size_t>(end));
    positions.index_ = static_cast<std::size_t>(at);
    return positions;
  }
  /// The number of samples of the next batch, which starts at index(); then moves on.
  std::size_t take(std::size_t batch_size) {
    const std::size_t count = std::min(batch_size, size_ - index_);
    index_ += count;
    return count;
  }

 private:
  std::size_t size_, index_ = 0;
};

}  // namespace detail

/// 0, 1, 2, ...
class SequentialSampler : public Sampler<> {
 public:
  explicit SequentialSampler(std::size_t size) : positions_(size) {}

  void reset(std::optional<std::size_t> new_size = std::nullopt) override {
    positions_.reset(new_size);
  }
  std::optional<std::vector<std::size_t>> next(std::size_t batch_size) override {
    std::vector<std::size_t> batch;
    const std::size_t first = positions_.index();
    const std::size_t count = positions_.take(batch_size);
    if (count == 0) return std::nullopt;
    for (std::size_t i = 0; i < count; ++i) batch.push_back(first + i);
    return batch;
  }
  void save(serialize::OutputArchive& archive) const override { positions_.save(archive); }
  void load(serialize::InputArchive& archive) override {
    positions_ = detail::Positions::loaded(archive);
  }
  std::size_t index() const noexcept { return positions_.index(); }

 private:
  detail::Positions positions_;
};

/// A random permutation, drawn from default_generator() when an epoch starts.
class RandomSampler : public Sampler<> {
 public:
  explicit RandomSampler(std::int64_t size, DType /*index_dtype*/ = kInt64)
      : positions_(static_cast<std::size_t>(size)) {
    draw();
  }

  void reset(std::optional<std::size_t> new_size = std::nullopt) override {
    positions_.reset(new_size);
    draw();
  }
  std::optional<std::vector<std::size_t>> next(std::size_t batch_size) override {
    const auto first = order_.begin() + static_cast<std::ptrdiff_t>(positions_.index());
    const std::size_t count = positions_.take(batch_size);
    if (count == 0) return std::nullopt;
    return std::vector<std::size_t>(first, first + static_cast<std::ptrdiff_t>(count));
  }
  void save(serialize::OutputArchive& archive) const override {
    positions_.save(archive);
    archive.write("order", tensor(std::vector<std::int64_t>(order_.begin(), order_.end())));
  }
  void load(serialize::InputArchive& archive) override {
    const auto positions = detail::Positions::loaded(archive);
    Tensor order;
    archive.read("order", order);
    auto indices = order.to_vector<std::int64_t>();
    std::sort(indices.begin(), indices.end());
    if (indices.size() != positions.size() || !is_iota(indices)) {
      halfgrad::detail::fail("load", "expected an order that has 0 to {} once each, got another",
                             static_cast<std::int64_t>(positions.size()) - 1);
    }
    positions_ = positions;
    set_order(order);
  }
  std::size_t index() const noexcept { return positions_.index(); }

 private:
  static bool is_iota(const std::vector<std::int64_t>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] != static_cast<std::int64_t>(i)) return false;
    }
    return true;
  }
  void draw() {
    set_order(randperm(static_cast<std::int64_t>(positions_.size()), {.device = kCPU}));
  }
  void set_order(const Tensor& order) {
    order_.clear();
    for (const std::int64_t index : order.to_vector<std::int64_t>()) {
      order_.push_back(static_cast<std::size_t>(index));
    }
  }

  detail::Positions positions_;
  std::vector<std::size_t> order_;
};

/// The number of samples of a request to a stream.
class BatchSize : public CustomBatchRequest {
 public:
  explicit BatchSize(std::size_t size) : size_(size) {}
  std::size_t size() const noexcept override { return size_; }
  operator std::size_t() const noexcept { return size_; }

 private:
  std::size_t size_;
};

/// Numbers of samples that add up to `epoch_size`, for datasets that choose their samples.
class StreamSampler : public Sampler<BatchSize> {
 public:
  explicit StreamSampler(std::size_t epoch_size) : positions_(epoch_size) {}

  void reset(std::optional<std::size_t> new_size = std::nullopt) override {
    positions_.reset(new_size);
  }
  std::optional<BatchSize> next(std::size_t batch_size) override {
    const std::size_t count = positions_.take(batch_size);
    if (count == 0) return std::nullopt;
    return BatchSize(count);
  }

  void save(serialize::OutputArchive& archive) const override { positions_.save(archive); }
  void load(serialize::InputArchive& archive) override {
    positions_ = detail::Positions::loaded(archive);
  }

 private:
  detail::Positions positions_;
};

/// Samplers of one of `num_replicas` processes that share a dataset: each gets
/// size / num_replicas samples, rounded up if allow_duplicates, else down.
template <class Request = std::vector<std::size_t>>
class DistributedSampler : public Sampler<Request> {
 public:
  DistributedSampler(std::size_t size, std::size_t num_replicas = 1, std::size_t rank = 0,
                     bool allow_duplicates = true)
      : size_(size), num_replicas_(num_replicas), rank_(rank), allow_duplicates_(allow_duplicates) {
    if (num_replicas < 1 || rank >= num_replicas) {
      halfgrad::detail::fail("DistributedSampler", "expected a rank in [0, {}), got {}",
                             num_replicas, rank);
    }
  }

  /// Seeds the permutation of the next epoch; all processes must set the same value.
  void set_epoch(std::size_t epoch) { epoch_ = epoch; }
  std::size_t epoch() const { return epoch_; }

 protected:
  std::size_t local_sample_count() const {
    return (size_ + (allow_duplicates_ ? num_replicas_ - 1 : 0)) / num_replicas_;
  }

  std::size_t size_, num_replicas_, rank_, epoch_ = 0;
  bool allow_duplicates_;
};

}  // namespace halfgrad::data::samplers
