#pragma once

#include <halfgrad/compat/names.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <halfgrad/compat/data/dataset.h>
#include <halfgrad/compat/data/sampler.h>
#include <halfgrad/compat/option.h>
#include <halfgrad/core/fail.h>

/// libtorch's datasets of chunks: data that is read a file, or another large part, at a time.
namespace halfgrad::data::datasets {

/// Reads chunks of samples by their indices.
template <class Sample, class Chunk = std::vector<Sample>>
class ChunkDataReader {
 public:
  using ExampleType = Sample;
  using ChunkType = Chunk;

  virtual ~ChunkDataReader() = default;
  virtual Chunk read_chunk(std::size_t chunk_index) = 0;
  virtual std::size_t chunk_count() = 0;
  /// Called when an epoch starts.
  virtual void reset() = 0;
};

struct ChunkDatasetOptions {
  ChunkDatasetOptions(std::size_t preloader_count, std::size_t batch_size,
                      std::size_t cache_size = 2048, std::size_t cross_chunk_shuffle_count = 1)
      : preloader_count_(preloader_count),
        batch_size_(batch_size),
        cache_size_(cache_size),
        cross_chunk_shuffle_count_(cross_chunk_shuffle_count) {}

  /// Threads that read chunks ahead in libtorch. halfgrad reads a chunk when its first sample is
  /// needed, so that the order of the samples is the same in every run.
  TORCH_ARG(std::size_t, preloader_count);
  TORCH_ARG(std::size_t, batch_size);
  /// Samples that libtorch's threads read ahead; not used.
  TORCH_ARG(std::size_t, cache_size);
  /// Chunks that are read at once, and whose samples are mixed.
  TORCH_ARG(std::size_t, cross_chunk_shuffle_count);
};

/// The samples of a reader's chunks, in batches. The chunk sampler chooses the next chunks, the
/// example sampler the order of the samples within them. get_batch() may be called by several
/// threads.
template <class Reader, class ChunkSampler = samplers::RandomSampler,
          class ExampleSampler = samplers::RandomSampler>
class ChunkDataset : public StatefulDataset<ChunkDataset<Reader, ChunkSampler, ExampleSampler>,
                                            typename Reader::ChunkType> {
 public:
  using Chunk = typename Reader::ChunkType;
  using BatchType = std::optional<Chunk>;

  /// `preprocess` changes the samples of the chunks that were read at once. Throws
  /// std::invalid_argument for an option that is 0, or a cache smaller than a batch.
  ChunkDataset(Reader reader, ChunkSampler chunk_sampler, ExampleSampler example_sampler,
               const ChunkDatasetOptions& options, std::function<void(Chunk&)> preprocess = nullptr)
      : reader_(std::move(reader)),
        chunk_sampler_(std::move(chunk_sampler)),
        example_sampler_(std::move(example_sampler)),
        options_(options),
        preprocess_(std::move(preprocess)) {
    expect_at_least("preloader_count", 1, options_.preloader_count());
    expect_at_least("batch_size", 1, options_.batch_size());
    expect_at_least("cache_size", options_.batch_size(), options_.cache_size());
    expect_at_least("cross_chunk_shuffle_count", 1, options_.cross_chunk_shuffle_count());
  }

  /// Throws std::invalid_argument unless `batch_size` is that of the options.
  BatchType get_batch(std::size_t batch_size) override {
    if (batch_size != options_.batch_size()) {
      halfgrad::detail::fail("ChunkDataset", "expected batches of {} samples, got {}",
                             options_.batch_size(), batch_size);
    }
    return get_batch();
  }
  BatchType get_batch() {
    const std::lock_guard lock(mutex_);
    while (samples_.size() < options_.batch_size() && read_chunks()) {
    }
    if (samples_.empty()) return std::nullopt;
    const auto end = samples_.begin() +
                     static_cast<std::ptrdiff_t>(std::min(options_.batch_size(), samples_.size()));
    Chunk batch(std::make_move_iterator(samples_.begin()), std::make_move_iterator(end));
    samples_.erase(samples_.begin(), end);
    return batch;
  }
  std::optional<std::size_t> size() const override { return std::nullopt; }

  /// Starts an epoch; the first one after load() where the saved one was.
  void reset() override {
    const std::lock_guard lock(mutex_);
    samples_.clear();
    if (!std::exchange(is_loaded_, false)) {
      reader_.reset();
      chunk_sampler_.reset(reader_.chunk_count());
    }
  }
  /// The position among the chunks. Samples that were read, but not yet asked for, are lost.
  void save(serialize::OutputArchive& archive) const override {
    const std::lock_guard lock(mutex_);
    chunk_sampler_.save(archive);
  }
  void load(serialize::InputArchive& archive) override {
    const std::lock_guard lock(mutex_);
    chunk_sampler_.load(archive);
    is_loaded_ = true;
  }
  ChunkSampler& chunk_sampler() { return chunk_sampler_; }

 private:
  static void expect_at_least(const char* name, std::size_t least, std::size_t value) {
    if (value >= least) return;
    halfgrad::detail::fail("ChunkDataset", "expected a {} of at least {}, got {}", name, least,
                           value);
  }

  /// Appends the samples of the next chunks. Returns false if there are none.
  bool read_chunks() {
    const auto indices = chunk_sampler_.next(options_.cross_chunk_shuffle_count());
    if (!indices) return false;
    Chunk samples;
    for (const std::size_t index : *indices) {
      Chunk chunk = reader_.read_chunk(index);
      std::move(chunk.begin(), chunk.end(), std::back_inserter(samples));
    }
    if (preprocess_) preprocess_(samples);
    if (samples.empty()) return true;
    example_sampler_.reset(samples.size());
    while (const auto order = example_sampler_.next(options_.batch_size())) {
      for (const std::size_t i : *order) samples_.push_back(samples[i]);
    }
    return true;
  }

  Reader reader_;
  ChunkSampler chunk_sampler_;
  ExampleSampler example_sampler_;
  ChunkDatasetOptions options_;
  std::function<void(Chunk&)> preprocess_;
  std::deque<typename Reader::ExampleType> samples_;  ///< read and not yet asked for
  bool is_loaded_ = false;
  mutable std::mutex mutex_;
};

}  // namespace halfgrad::data::datasets
