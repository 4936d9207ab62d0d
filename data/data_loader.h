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

/// A dataset with its type erased.
struct BatchSource {
  std::int64_t size;
  std::function<Batch(std::span<const std::int64_t>)> get_batch;
};

}  // namespace detail

struct DataLoaderArguments {
  std::int64_t batch_size = 1;  ///< samples that a rank takes at once
  bool shuffle = false;
  bool drop_last = false;  ///< drops a last batch that is shorter than the others
  std::uint64_t seed = 0;  ///< determines the order of epoch e as a function of (seed, e), and the
                           ///< random numbers of its batch b as a function of (seed, e, b)
  int prefetch = 2;        ///< batches that a thread prepares ahead; 0: no thread
  int num_replicas = 1;    ///< ranks that share each epoch, as torch's DistributedSampler
  int rank = 0;            ///< this rank, 0 to num_replicas - 1
};
HALFGRAD_PLAIN_NAME(DataLoaderOptions, DataLoaderArguments)

/// A place in the data that does not depend on the number of ranks or on the batch size.
struct LoaderPosition {
  std::int64_t epoch = 0;
  std::int64_t samples = 0;  ///< samples of this epoch that all ranks together have taken

  bool operator==(const LoaderPosition&) const = default;
};

/// The batches of a dataset, epoch after epoch:
///
///   DataLoader loader(TensorDataset(x, y), {.batch_size = 128, .shuffle = true});
///   for (auto [x, y] : loader) { ... }
///
/// Each range-for runs one epoch; epochs count 0, 1, ... A loop may end early. An exception of the
/// dataset reaches the caller in place of the batch and ends the epoch: the iterator is at its end.
///
/// Ranks share an epoch: the order of its samples is cut into global batches of
/// num_replicas * batch_size, and rank r takes the r-th part of each. The parts of all ranks, one
/// after another, are therefore the batches of one rank with a num_replicas times larger
/// batch_size. Every rank gets the same number of batches, of the same sizes: a last, smaller
/// global batch is dropped if drop_last, or else filled up to a multiple of num_replicas with the
/// first samples of the epoch, as torch does. Every rank needs the same options but `rank`.
///
/// A dataset may draw random numbers, to crop or to add noise: each call of get_batch has a
/// default_generator() of its own, whose state depends on seed, epoch and batch alone (with several
/// ranks, on the position of the batch's first sample). Batches are
/// therefore the same for every `prefetch` and after set_epoch(), and the program's generator does
/// not change. In whichever thread get_batch runs, it has the modes (no_grad, inference), the
/// autocast region and the default device of the call that started the epoch.
class DataLoader {
 public:
  /// Keeps a copy of the dataset. Throws std::invalid_argument for batch_size < 1, prefetch < 0, or
  /// a rank outside [0, num_replicas).
  template <class D>  // but not for a DataLoader, which the copy constructor takes
  requires(!std::same_as<D, DataLoader> &&
           MapStyleDataset<D>) explicit DataLoader(D dataset, DataLoaderArguments options = {})
      : DataLoader(detail::BatchSource{dataset.size(),
                                       [dataset](std::span<const std::int64_t> indices) -> Batch {
                                         return dataset.get_batch(indices);
                                       }},
                   options) {}

  class Iterator;

  /// Starts the next epoch.
  Iterator begin();
  std::default_sentinel_t end() const { return {}; }

  /// Number of batches in an epoch, the same on every rank.
  std::int64_t size() const;

  /// The indices of the samples in the order of that epoch, for all ranks.
  std::vector<std::int64_t> order(std::int64_t epoch) const;

  /// Sets the epoch that the next begin() starts, and its first batch, to resume training where it
  /// stopped. Throws std::invalid_argument for a batch outside [0, size()].
  void set_epoch(std::int64_t epoch, std::int64_t first_batch = 0);
  /// Sets where the next begin() starts: the rest of that epoch, cut into batches anew. No sample
  /// of an epoch is taken twice, or left out, if the number of ranks or batch_size changes in the
  /// middle; only the last global batch is filled up or dropped, as always. Throws
  /// std::invalid_argument for a position outside the dataset.
  void set_position(const LoaderPosition& position);
  /// The position at which the next begin() starts.
  const LoaderPosition& position() const { return start_; }

 private:
  DataLoader(detail::BatchSource source, DataLoaderArguments options);

  std::shared_ptr<const detail::BatchSource> source_;
  DataLoaderArguments options_;
  LoaderPosition start_;  ///< position of the next begin()
};

/// An input iterator. Copies share their position; an iterator may outlive the loader.
class DataLoader::Iterator {
 public:
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;

  const Batch& operator*() const;
  Iterator& operator++();
  void operator++(int) { ++*this; }
  /// The position after the current batch, for a checkpoint; at the end, the start of the next
  /// epoch.
  LoaderPosition position() const;
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
