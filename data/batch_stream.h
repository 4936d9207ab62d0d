#pragma once

#include <cstdint>

#include <halfgrad/data/data_loader.h>

namespace halfgrad::data {

/// The batches of a loader's epochs, one behind the other without end, for training that counts
/// steps; the number of batches taken is all that a checkpoint needs to know:
///
///   BatchStream batches(loader);
///   batches.seek(checkpoint.integer("step"));
///   for (...) { auto [x, y] = batches.next(); ... }
class BatchStream {
 public:
  /// Begins with batch 0 of epoch 0. Throws std::invalid_argument for a loader without batches.
  explicit BatchStream(DataLoader loader);

  Batch next();

  /// Makes the next batch the one that follows the first `batches`. Throws std::invalid_argument
  /// for fewer than 0.
  void seek(std::int64_t batches);

  /// Number of batches in an epoch.
  std::int64_t epoch_size() const { return loader_.size(); }

 private:
  DataLoader loader_;
  DataLoader::Iterator at_;
};

}  // namespace halfgrad::data
