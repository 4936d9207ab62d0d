#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <halfgrad/core/plain_names.h>
#include <halfgrad/data/dataset.h>

namespace halfgrad::data {

namespace detail {

class Epoch;

struct BatchSource {
  std::int64_t size;
  std::function<Batch(std::span<const std::int64_t>)> get_batch;
};

}  // namespace detail

struct DataLoaderArguments {
  std::int64_t batch_size = 1;
  bool shuffle = false;
  bool drop_last = false;  ///< drops a last batch that is shorter than the others
  std::uint64_t seed = 0;  ///< determines the order of epoch e as a function of (seed, e), and the
                           ///< random numbers of its batch b as a function of (seed, e, b)
  int prefetch = 2;        ///< batches that a thread prepares ahead; 0: no thread
};
HALFGRAD_PLAIN_NAME(DataLoaderOptions, DataLoaderArguments)

/// The batches of a dataset, epoch after epoch:
///
///   DataLoader loader(TensorDataset(x, y), {.batch_size = 128, .shuffle = true});
///   for (auto [x, y] : loader) { ... }
///
/// Each range-for runs one epoch; epochs count 0, 1, ... A loop may end early. An exception of the
/// dataset reaches the caller in place of the batch and ends the epoch: the iterator is at its end.
///
/// A dataset may draw random numbers, to crop or to add noise: each call of get_batch has a
/// default_generator() of its own, whose state depends on seed, epoch and batch alone. Batches are
/// therefore the same for every `prefetch` and after set_epoch(), and the program's generator does
/// not change. In whichever thread get_batch runs, it has the modes (no_grad, inference), the
/// autocast region and the default device of the call that started the epoch.
class DataLoader {
 public:
  /// Keeps a copy of the dataset. Throws std::invalid_argument for batch_size < 1 or prefetch < 0.
  template <class D>
  requires(!std::same_as<D, DataLoader>) && Dataset<D>  // leaves copies to the copy constructor
      explicit DataLoader(D dataset, DataLoaderArguments options = {})
      : DataLoader(detail::BatchSource{dataset.size(),
                                       [dataset](std::span<const std::int64_t> indices) -> Batch {
                                         return dataset.get_batch(indices);
                                       }},
                   options) {}

  class Iterator;

  /// Starts the next epoch.
  Iterator begin();
  std::default_sentinel_t end() const { return {}; }

  /// Number of batches in an epoch.
  std::int64_t size() const;

  /// The indices of the samples in the order of that epoch.
  std::vector<std::int64_t> order(std::int64_t epoch) const;

  /// Sets the epoch that the next begin() starts, and its first batch, to resume training where it
  /// stopped. Throws std::invalid_argument for a batch outside [0, size()].
  void set_epoch(std::int64_t epoch, std::int64_t first_batch = 0);

 private:
  DataLoader(detail::BatchSource source, DataLoaderArguments options);

  std::shared_ptr<const detail::BatchSource> source_;
  DataLoaderArguments options_;
  std::int64_t epoch_ = 0;
  std::int64_t first_batch_ = 0;
};

/// An input iterator. Copies share their position; an iterator may outlive the loader.
class DataLoader::Iterator {
 public:
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;

  const Batch& operator*() const;
  Iterator& operator++();
  void operator++(int) { ++*this; }
  friend bool operator==(const Iterator& iterator, std::default_sentinel_t) {
    return iterator.at_end();
  }

 private:
  friend class DataLoader;
  explicit Iterator(std::shared_ptr<detail::Epoch> epoch) : epoch_(std::move(epoch)) {}
  bool at_end() const;

  std::shared_ptr<detail::Epoch> epoch_;
};

}  // namespace halfgrad::data
