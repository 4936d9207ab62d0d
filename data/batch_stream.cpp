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
  if (!at_ || *at_ == std::default_sentinel) at_ = loader_.begin();
  return **at_;
}

void BatchStream::seek(std::int64_t batches) {
  if (batches < 0) {
    halfgrad::detail::fail("seek", "expected 0 or more batches, got {}", batches);
  }
  loader_.set_epoch(batches / loader_.size(), batches % loader_.size());
  at_.reset();
}

}  // namespace halfgrad::data
