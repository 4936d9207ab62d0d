#include <halfgrad/data/batch_stream.h>

#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

namespace halfgrad::data {
namespace {

DataLoader at_its_start(DataLoader loader) {
  if (loader.size() == 0) {
    throw std::invalid_argument("BatchStream: expected a loader of at least one batch, got none");
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
    throw std::invalid_argument("seek: expected 0 or more batches, got " + std::to_string(batches));
  }
  loader_.set_epoch(batches / loader_.size(), batches % loader_.size());
  at_.reset();
}

}  // namespace halfgrad::data
