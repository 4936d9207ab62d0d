#pragma once

#include <halfgrad/compat/names.h>

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <future>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfgrad/compat/data/data_loader_options.h>
#include <halfgrad/compat/data/dataset.h>
#include <halfgrad/compat/data/sampler.h>
#include <halfgrad/core/fail.h>

/// libtorch's data loader: `for (auto& batch : *make_data_loader(dataset, 64)) ...`
namespace halfgrad::data {

/// The current batch of a loader. An input iterator: all iterators of an epoch share its position.
/// After a ++ that threw there is no batch, but the epoch goes on: the next ++ fetches the batch
/// that follows.
template <class Loader>
class LoaderIterator {
 public:
  using BatchType = typename Loader::BatchType;
  using value_type = BatchType;
  using reference = BatchType&;
  using pointer = BatchType*;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::input_iterator_tag;

  LoaderIterator() = default;
  explicit LoaderIterator(Loader* loader) : loader_(loader) {}

  BatchType& operator*() const { return current(); }
  BatchType* operator->() const { return &current(); }
  LoaderIterator& operator++() {
    expect_epoch();
    loader_->advance();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const LoaderIterator& a, const LoaderIterator& b) {
    return a.at_end() == b.at_end() && (a.at_end() || a.loader_ == b.loader_);
  }

 private:
  bool at_end() const { return loader_ == nullptr || !(loader_->batch_ || loader_->is_failed_); }
  void expect_epoch() const {
    if (at_end())
      halfgrad::detail::fail("DataLoader", "expected an iterator before the end, got {}", "end()");
  }
  BatchType& current() const {
    expect_epoch();
    if (loader_->is_failed_) {
      halfgrad::detail::fail("DataLoader", "expected a batch, got {}",
                             "none: the last ++ threw; another ++ fetches the next batch");
    }
    return *loader_->batch_;
  }

  Loader* loader_ = nullptr;
};

namespace detail {

template <class T>
struct WithoutOptional {
  using type = T;
};
template <class T>
struct WithoutOptional<std::optional<T>> {
  using type = T;
};

/// Lets jobs in several threads run one after the other, in the order in which they took a turn.
class Turns {
 public:
  std::size_t take() { return taken_++; }
  /// Waits for `turn`, and returns job().
  template <class Job>
  auto run(std::size_t turn, const Job& job) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return next_ == turn; });
    const Ending ending{*this};
    return job();
  }

 private:
  struct Ending {
    ~Ending() {
      ++turns.next_;
      turns.changed_.notify_all();
    }
    Turns& turns;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t taken_ = 0, next_ = 0;
};

}  // namespace detail

/// The batches of a dataset in the order of a sampler. make_data_loader() makes one. Each worker
/// has a copy of the dataset; of a stateful dataset there is one, and the workers call it in turn.
template <class D, class Sampler>
class StatelessDataLoader {
 public:
  using BatchType = typename detail::WithoutOptional<typename D::BatchType>::type;
  using Iterator = LoaderIterator<StatelessDataLoader>;

  StatelessDataLoader(D dataset, Sampler sampler, const DataLoaderOptions& options)
      : options_(options), dataset_(std::move(dataset)), sampler_(std::move(sampler)) {
    if (options_.batch_size == 0) {
      halfgrad::detail::fail("DataLoader", "expected batch_size of at least 1, got {}", 0);
    }
    if constexpr (!D::is_stateful) {
      for (std::size_t i = 0; i < options_.workers; ++i) add_copy();
    }
  }
  StatelessDataLoader(const StatelessDataLoader&) = delete;
  StatelessDataLoader& operator=(const StatelessDataLoader&) = delete;
  ~StatelessDataLoader() { join(); }

  /// Starts an epoch, and ends the one before, of which a `break` may have left out batches. Its
  /// iterators continue with the new epoch. As in libtorch, throws std::invalid_argument while
  /// workers compute batches of the epoch before: call join() to give them up. An epoch in which
  /// fetching a batch threw counts as ended.
  Iterator begin() {
    if (batch_ && !jobs_.empty()) {
      halfgrad::detail::fail("DataLoader::begin",
                             "expected the last epoch to be at its end, got {} batches that "
                             "workers compute for it; call join() to give it up",
                             jobs_.size());
    }
    join();  // drops the jobs of an epoch that an error ended
    sampler_.reset(std::nullopt);
    if constexpr (D::is_stateful) dataset_.reset();
    next_worker_ = 0;
    for (std::size_t i = 0; i < options_.workers; ++i) start_job();
    advance();
    return Iterator(this);
  }
  Iterator end() { return Iterator(); }
  /// Waits for the workers, and ends the epoch.
  void join() {
    for (auto& job : jobs_) job.wait();
    jobs_.clear();
    batch_.reset();
    is_failed_ = false;
  }
  const FullDataLoaderOptions& options() const noexcept { return options_; }

 private:
  friend Iterator;

  std::optional<typename Sampler::BatchRequestType> next_request() {
    auto request = sampler_.next(options_.batch_size);
    const bool drop = request && options_.drop_last && size_of(*request) < options_.batch_size;
    return drop ? std::nullopt : std::move(request);
  }
  void add_copy() {
    if constexpr (std::is_copy_constructible_v<D>) {
      copies_.push_back(dataset_);
    } else {
      halfgrad::detail::fail("DataLoader", "expected a dataset that can be copied, got {}",
                             "another one; make_shared_dataset() shares it between workers");
    }
  }
  template <class Request>
  static std::size_t size_of(const Request& request) {
    if constexpr (std::is_integral_v<Request>) {
      return static_cast<std::size_t>(request);
    } else {
      return request.size();
    }
  }

  void start_job() {
    auto request = next_request();
    if (!request) return;
    if constexpr (D::is_stateful) {
      jobs_.push_back(
          std::async(std::launch::async, [this, request = *request, turn = turns_.take()] {
            return turns_.run(
                turn, [&] { return std::optional<BatchType>(dataset_.get_batch(request)); });
          }));
    } else {
      D& dataset = copies_[next_worker_++ % copies_.size()];
      jobs_.push_back(std::async(std::launch::async, [&dataset, request = std::move(*request)] {
        return std::optional<BatchType>(dataset.get_batch(request));
      }));
    }
  }

  void advance() {
    batch_.reset();
    is_failed_ = true;  // unless fetch() returns
    fetch();
    is_failed_ = false;
  }

  void fetch() {
    if (options_.workers == 0) {
      if (auto request = next_request()) batch_ = dataset_.get_batch(std::move(*request));
      return;
    }
    if (jobs_.empty()) return;
    auto job = std::move(jobs_.front());
    jobs_.erase(jobs_.begin());
    if (options_.timeout && job.wait_for(*options_.timeout) != std::future_status::ready) {
      jobs_.insert(jobs_.begin(), std::move(job));
      halfgrad::detail::fail<std::runtime_error>("DataLoader",
                                                 "Timeout: expected a batch within {} ms, got {}",
                                                 options_.timeout->count(), "none");
    }
    try {
      batch_ = job.get();
    } catch (...) {
      start_job();
      throw WorkerException(std::current_exception());
    }
    if (!batch_) return join();  // a stateful dataset ended: so do the jobs behind this one
    start_job();                 // after the worker of this job is free
  }

  FullDataLoaderOptions options_;
  D dataset_;
  Sampler sampler_;
  std::vector<D> copies_;  // one for each worker
  std::size_t next_worker_ = 0;
  detail::Turns turns_;                                      // at a stateful dataset
  std::vector<std::future<std::optional<BatchType>>> jobs_;  // in the order of the batches
  std::optional<BatchType> batch_;
  bool is_failed_ = false;  // the last batch could not be fetched
};

namespace detail {

/// Numbers of samples without end: the dataset ends the epoch.
struct BatchSizes {
  using BatchRequestType = std::size_t;
  void reset(std::optional<std::size_t>) {}
  std::optional<std::size_t> next(std::size_t batch_size) { return batch_size; }
};

}  // namespace detail

template <class D>
using StatefulDataLoader = StatelessDataLoader<D, detail::BatchSizes>;

/// Makes a loader whose sampler is constructed from the size of the dataset.
template <class Sampler = samplers::RandomSampler, class D>
requires(!D::is_stateful) std::unique_ptr<StatelessDataLoader<D, Sampler>> make_data_loader(
    D dataset, DataLoaderOptions options = {}) {
  const std::optional<std::size_t> size = dataset.size();
  if (!size) {
    halfgrad::detail::fail("make_data_loader", "expected a dataset with a size, got {}",
                           "none; pass a sampler");
  }
  using Size = std::conditional_t<std::is_same_v<Sampler, samplers::RandomSampler>, std::int64_t,
                                  std::size_t>;
  return make_data_loader(std::move(dataset), Sampler(static_cast<Size>(*size)), options);
}

template <class D, class Sampler>
requires(!D::is_stateful && !std::is_convertible_v<Sampler, DataLoaderOptions>)
    std::unique_ptr<StatelessDataLoader<D, Sampler>> make_data_loader(
        D dataset, Sampler sampler, DataLoaderOptions options = {}) {
  return std::make_unique<StatelessDataLoader<D, Sampler>>(std::move(dataset), std::move(sampler),
                                                           options);
}

template <class D>
requires(D::is_stateful) std::unique_ptr<StatefulDataLoader<D>> make_data_loader(
    D dataset, DataLoaderOptions options = {}) {
  return std::make_unique<StatefulDataLoader<D>>(std::move(dataset), detail::BatchSizes(), options);
}

}  // namespace halfgrad::data
