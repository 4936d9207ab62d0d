#include <halfgrad/data/batch_stream.h>

#include <iterator>
#include <utility>

#include <halfgrad/core/fail.h>

namespace halfgrad::data {
namespace {

DataLoader at_its_start(DataLoader loader) {
  if (loader.size() == 0) {
    halfgrad::detail::fail("BatchStream", "expected a loader of at least one batch, got none");
  }
  loader.set_epoch(0);
  return loader;
}

}  // namespace

BatchStream::BatchStream(DataLoader loader) : loader_(at_its_start(std::move(loader))) {}

Batch BatchStream::next() {
  if (at_) ++*at_;
  // An epoch that continues where less than a batch is left may have none.
  while (!at_ || *at_ == std::default_sentinel) at_ = loader_.begin();
  return **at_;
}

void BatchStream::seek(std::int64_t batches) {
  if (batches < 0) {
    halfgrad::detail::fail("seek", "expected 0 or more batches, got {}", batches);
  }
  const std::int64_t epoch = batches / loader_.size();
  loader_.set_epoch(epoch, batches % loader_.size());
  start_ = loader_.position();
  at_.reset();
}

LoaderPosition BatchStream::position() const { return at_ ? at_->position() : start_; }

void BatchStream::seek(const LoaderPosition& position) {
  loader_.set_position(position);
  start_ = position;
  at_.reset();
}

}  // namespace halfgrad::data
