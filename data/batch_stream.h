#pragma once

#include <cstdint>
#include <optional>

#include <halfgrad/data/data_loader.h>

namespace halfgrad::data {

/// The batches of a loader's epochs, one behind the other without end, for training that counts
/// steps; the number of batches taken is all that a checkpoint needs to know:
///
///   BatchStream batches(loader);
///   batches.seek(checkpoint.integer("step"));
///   for (...) { auto [x, y] = batches.next(); ... }
///
/// What the dataset throws reaches the caller in place of the batch and ends the epoch: the next
/// batch is the first of the following one.
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
  std::optional<DataLoader::Iterator> at_;  ///< the batch given last; none yet after a seek
};

}  // namespace halfgrad::data
