#include <halfgrad/data/data_loader.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/precision.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/math/philox.h>
#include <halfgrad/core/random.h>

namespace halfgrad::data {

namespace detail {
namespace {

/// The highest bits of a random stream say what it is for: bit 63 the order of samples, bits 63
/// and 62 the seeds of batches, bit 62 the random values that a batch draws. Random tensors count
/// their streams up from 0, so they never use these.
constexpr std::uint64_t kOrderStream = std::uint64_t{1} << 63;
constexpr std::uint64_t kBatchStream = std::uint64_t{1} << 62;

std::vector<std::int64_t> sample_order(std::int64_t size, const DataLoaderArguments& options,
                                       std::int64_t epoch) {
  if (options.shuffle)
    return random_permutation(
        size, {.seed = options.seed, .stream = kOrderStream | static_cast<std::uint64_t>(epoch)});
  std::vector<std::int64_t> order(size);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// The initial state of a batch's generator. Every batch gets a seed of its own, spread over all 64
/// bits, so that engines that a dataset seeds with initial_seed() differ, too.
RandomKey batch_key(std::uint64_t seed, std::int64_t epoch, std::int64_t batch) {
  const std::uint64_t stream = kOrderStream | kBatchStream | static_cast<std::uint64_t>(epoch);
  const auto [word] =
      random_block({.seed = seed, .stream = stream}, static_cast<std::uint64_t>(batch));
  return {.seed = halfgrad::detail::join(word[0], word[1]), .stream = kBatchStream};
}

std::unique_ptr<CastRule> copy_of(const CastRule* rule) {
  return rule != nullptr ? rule->copy() : nullptr;
}

class DefaultDeviceScope {
 public:
  explicit DefaultDeviceScope(Device device) { set_default_device(device); }
  ~DefaultDeviceScope() { set_default_device(before_); }
  DefaultDeviceScope(const DefaultDeviceScope&) = delete;
  DefaultDeviceScope& operator=(const DefaultDeviceScope&) = delete;

 private:
  Device before_ = get_default_device();
};

}  // namespace

/// Cuts the samples of an epoch into batches.
class EpochBatches {
 public:
  EpochBatches(std::int64_t size, const DataLoaderArguments& options)
      : size_(size), options_(options) {}

  /// Samples that all ranks take at `position`: a global batch, or the rest; 0 at the end.
  std::int64_t taken_at(std::int64_t position) const {
    const std::int64_t rest = size_ - position;
    if (rest >= global()) return global();
    return options_.drop_last ? 0 : rest;
  }
  /// Number of batches of each rank, from `position` on.
  std::int64_t count_from(std::int64_t position) const {
    const std::int64_t rest = size_ - position, whole = rest / global();
    return options_.drop_last || rest % global() == 0 ? whole : whole + 1;
  }
  /// The position of the batch with this index.
  std::int64_t position_of(std::int64_t batch) const {
    return batch > size_ / global() ? size_ : std::min(batch * global(), size_);
  }
  /// This rank's part of the batch at `position` is [first, first + count) of the epoch's order,
  /// continued by its beginning.
  struct Part {
    std::int64_t first, count;
  };
  Part part_at(std::int64_t position) const {
    const std::int64_t ranks = options_.num_replicas;
    const std::int64_t count = (taken_at(position) + ranks - 1) / ranks;
    return {position + options_.rank * count, count};
  }

 private:
  std::int64_t global() const {
    // A huge batch_size, "all samples", must not overflow.
    return std::min(options_.batch_size, size_ + 1) * options_.num_replicas;
  }

  std::int64_t size_;
  DataLoaderArguments options_;
};

/// One pass over the data. The caller uses current() and advance(). With prefetching, a worker
/// thread fills the queue `ready_`; its last entry is empty and means the end of the epoch or an
/// exception.
class Epoch {
 public:
  Epoch(std::shared_ptr<const BatchSource> source, const DataLoaderArguments& options,
        const LoaderPosition& start)
      : source_(std::move(source)),
        options_(options),
        epoch_(start.epoch),
        order_(sample_order(source_->size, options, start.epoch)),
        batches_(source_->size, options),
        next_(start.samples),
        taken_(start.samples),
        rule_(copy_of(halfgrad::detail::cast_rule)) {
    if (options_.prefetch > 0) worker_ = std::thread([this] { work(); });
    try {
      advance();
    } catch (...) {
      stop();
      throw;
    }
  }
  ~Epoch() { stop(); }
  Epoch(const Epoch&) = delete;
  Epoch& operator=(const Epoch&) = delete;

  const std::optional<Batch>& current() const { return current_; }

  void advance() {
    current_.reset();  // frees its memory for the batch being prepared
    current_ = options_.prefetch > 0 ? take() : next();
    if (current_) taken_ += batches_.taken_at(taken_);
  }

  LoaderPosition position() const {
    if (current_ && batches_.taken_at(taken_) > 0) return {epoch_, taken_};
    return {epoch_ + 1, 0};
  }

 private:
  /// Prepares the next batch in order; returns nullopt at the end.
  std::optional<Batch> next() {
    const std::int64_t taken = batches_.taken_at(next_);
    if (taken == 0) return std::nullopt;
    const auto [first, count] = batches_.part_at(next_);
    next_ += taken;
    std::vector<std::int64_t> indices(count);
    for (std::int64_t i = 0; i < count; ++i) indices[i] = order_[(first + i) % source_->size];
    const halfgrad::detail::ModesScope modes(modes_);
    const DefaultDeviceScope device(device_);
    const auto rule = copy_of(rule_.get());  // a copy, so its cache of casts ends with the batch
    const halfgrad::detail::CastRuleScope casts(rule.get());
    Generator generator;
    // Parts of several ranks are told apart by their first sample.
    const std::int64_t batch = options_.num_replicas == 1 ? first / options_.batch_size : first;
    generator.set_state(batch_key(options_.seed, epoch_, batch));
    const halfgrad::detail::GeneratorScope random(generator);
    try {
      return source_->get_batch(indices);
    } catch (...) {
      next_ = source_->size;
      throw;
    }
  }

  void work() {
    bool at_end = false;
    while (!at_end) {
      std::unique_lock lock(mutex_);
      not_full_.wait(lock, [this] { return stopping_ || std::ssize(ready_) < options_.prefetch; });
      if (stopping_) return;
      lock.unlock();
      std::optional<Batch> batch;
      std::exception_ptr failure;
      try {
        batch = next();
      } catch (...) {
        failure = std::current_exception();
      }
      at_end = !batch;
      lock.lock();
      failure_ = failure;
      ready_.push_back(std::move(batch));
      not_empty_.notify_one();
    }
  }

  std::optional<Batch> take() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [this] { return !ready_.empty(); });
    if (!ready_.front() && failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    if (!ready_.front()) return std::nullopt;  // remains in the queue: later calls return it again
    std::optional<Batch> batch = std::move(ready_.front());
    ready_.pop_front();
    not_full_.notify_one();
    return batch;
  }

  void stop() {
    if (!worker_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    not_full_.notify_one();
    worker_.join();
  }

  std::shared_ptr<const BatchSource> source_;
  const DataLoaderArguments options_;
  const std::int64_t epoch_;
  const std::vector<std::int64_t> order_;
  const EpochBatches batches_;
  std::int64_t next_;   // position of the next batch to prepare
  std::int64_t taken_;  // position after the current batch
  // Settings of the thread that started the epoch; next() may run in the worker thread.
  const halfgrad::detail::Modes modes_ = halfgrad::detail::modes;
  const Device device_ = get_default_device();
  const std::unique_ptr<CastRule> rule_;
  std::optional<Batch> current_;

  std::mutex mutex_;
  std::condition_variable not_full_, not_empty_;
  std::deque<std::optional<Batch>> ready_;
  std::exception_ptr failure_;
  bool stopping_ = false;
  std::thread worker_;
};

}  // namespace detail

DataLoader::DataLoader(detail::BatchSource source, DataLoaderArguments options)
    : source_(std::make_shared<detail::BatchSource>(std::move(source))), options_(options) {
  const auto check = [](const char* name, std::int64_t value, std::int64_t least) {
    if (value < least)
      halfgrad::detail::fail("DataLoader", "expected {} >= {}, got {}", name, least, value);
  };
  check("batch_size", options.batch_size, 1);
  check("prefetch", options.prefetch, 0);
  if (options.rank < 0 || options.rank >= options.num_replicas) {
    halfgrad::detail::fail("DataLoader", "expected a rank in [0, num_replicas), got {} of {}",
                           options.rank, options.num_replicas);
  }
}

std::vector<std::int64_t> DataLoader::order(std::int64_t epoch) const {
  return detail::sample_order(source_->size, options_, epoch);
}

std::int64_t DataLoader::size() const {
  return detail::EpochBatches(source_->size, options_).count_from(0);
}

void DataLoader::set_epoch(std::int64_t epoch, std::int64_t first_batch) {
  if (first_batch < 0 || first_batch > size()) {
    halfgrad::detail::fail("set_epoch", "expected a batch in [0, {}], got {}", size(), first_batch);
  }
  start_ = {epoch, detail::EpochBatches(source_->size, options_).position_of(first_batch)};
}

void DataLoader::set_position(const LoaderPosition& position) {
  if (position.samples < 0 || position.samples > source_->size) {
    halfgrad::detail::fail("set_position", "expected a sample in [0, {}], got {}", source_->size,
                           position.samples);
  }
  start_ = position;
}

DataLoader::Iterator DataLoader::begin() {
  const LoaderPosition start = std::exchange(start_, {start_.epoch + 1, 0});
  return Iterator(std::make_shared<detail::Epoch>(source_, options_, start));
}

const Batch& DataLoader::Iterator::operator*() const { return *epoch_->current(); }

DataLoader::Iterator& DataLoader::Iterator::operator++() {
  epoch_->advance();
  return *this;
}

LoaderPosition DataLoader::Iterator::position() const { return epoch_->position(); }

bool DataLoader::Iterator::at_end() const { return !epoch_->current(); }

}  // namespace halfgrad::data
