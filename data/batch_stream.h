#pragma once

#include <cstdint>
#include <optional>

#include <halfgrad/data/data_loader.h>

namespace halfgrad::data {

/// The batches of a loader's epochs as one endless sequence, for training that counts steps. A
/// checkpoint only needs the number of batches taken:
///
///   BatchStream batches(loader);
///   batches.seek(checkpoint.integer("step"));
///   for (...) { auto [x, y] = batches.next(); ... }
///
/// An exception of the dataset reaches the caller of next() and ends the epoch: the next batch is
/// the first of the following epoch.
class BatchStream {
 public:
  /// Starts with batch 0 of epoch 0. Throws std::invalid_argument for a loader without batches.
  explicit BatchStream(DataLoader loader);

  Batch next();

  /// Continues after the first `batches` batches. Throws std::invalid_argument if it is negative.
  void seek(std::int64_t batches);

  /// The position after the last batch. A checkpoint that another number of ranks, or another
  /// batch_size, may resume from needs it in place of the number of batches.
  LoaderPosition position() const;
  /// Continues there. Throws std::invalid_argument as DataLoader::set_position().
  void seek(const LoaderPosition& position);

  /// Number of batches in an epoch.
  std::int64_t epoch_size() const { return loader_.size(); }

 private:
  DataLoader loader_;
  LoaderPosition start_;                    ///< position after the last seek
  std::optional<DataLoader::Iterator> at_;  ///< the last batch returned; empty after a seek
};

}  // namespace halfgrad::data
