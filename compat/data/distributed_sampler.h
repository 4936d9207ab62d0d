#pragma once

#include <halfgrad/compat/names.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include <halfgrad/compat/data/sampler.h>

namespace halfgrad::data::samplers {
namespace detail {

/// This process's samples: every num_replicas-th of a permutation, or one contiguous block.
class LocalSamples : public DistributedSampler<> {
 public:
  using DistributedSampler<>::DistributedSampler;

  void reset(std::optional<std::size_t> new_size = std::nullopt) override {
    size_ = new_size.value_or(size_);
    samples_ = chosen();
    positions_.reset(samples_.size());
  }
  std::optional<std::vector<std::size_t>> next(std::size_t batch_size) override {
    const auto first = samples_.begin() + static_cast<std::ptrdiff_t>(positions_.index());
    const std::size_t count = positions_.take(batch_size);
    if (count == 0) return std::nullopt;
    return std::vector<std::size_t>(first, first + static_cast<std::ptrdiff_t>(count));
  }
  std::size_t index() const noexcept { return positions_.index(); }
  void save(serialize::OutputArchive& archive) const override {
    archive.write("epoch", tensor(static_cast<std::int64_t>(epoch_)));
    positions_.save(archive);
  }
  /// The sampler must have the size, the number of replicas and the rank of the saved one.
  void load(serialize::InputArchive& archive) override {
    Tensor epoch = tensor(std::int64_t{0});
    archive.read("epoch", epoch);
    const auto positions = Positions::loaded(archive);
    if (positions.size() != samples_.size()) {
      halfgrad::detail::fail("DistributedSampler", "expected {} samples for this process, got {}",
                             samples_.size(), positions.size());
    }
    epoch_ = static_cast<std::size_t>(epoch.item<std::int64_t>());
    samples_ = chosen();
    positions_ = positions;
  }

 protected:
  virtual std::vector<std::size_t> chosen() const = 0;

 private:
  std::vector<std::size_t> samples_;
  Positions positions_{0};
};

}  // namespace detail

/// A permutation that depends on the epoch alone, dealt out in turn to the processes. If the size
/// is no multiple of their number, and duplicates are allowed, the first samples occur twice.
class DistributedRandomSampler : public detail::LocalSamples {
 public:
  explicit DistributedRandomSampler(std::size_t size, std::size_t num_replicas = 1,
                                    std::size_t rank = 0, bool allow_duplicates = true)
      : LocalSamples(size, num_replicas, rank, allow_duplicates) {
    reset(size);
  }

 private:
  std::vector<std::size_t> chosen() const override {
    // As many as all processes take: some samples twice, or all once.
    std::vector<std::size_t> order(std::max(size_, local_sample_count() * num_replicas_)), samples;
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i % size_;
    std::shuffle(order.begin(), order.end(), std::mt19937_64(epoch_));
    for (std::size_t i = 0; i < local_sample_count(); ++i) {
      samples.push_back(order[rank_ + i * num_replicas_]);
    }
    return samples;
  }
};

/// One block of consecutive samples for each process.
class DistributedSequentialSampler : public detail::LocalSamples {
 public:
  explicit DistributedSequentialSampler(std::size_t size, std::size_t num_replicas = 1,
                                        std::size_t rank = 0, bool allow_duplicates = true)
      : LocalSamples(size, num_replicas, rank, allow_duplicates) {
    reset(size);
  }

 private:
  std::vector<std::size_t> chosen() const override {
    std::vector<std::size_t> samples;
    const std::size_t first = rank_ * local_sample_count();
    for (std::size_t i = 0; i < local_sample_count(); ++i) samples.push_back((first + i) % size_);
    return samples;
  }
};

}  // namespace halfgrad::data::samplers
