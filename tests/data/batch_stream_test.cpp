#include <halfgrad/data/batch_stream.h>

#include <numeric>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/autograd/creation.h>

namespace halfgrad::data {
namespace {

constexpr std::int64_t kSamples = 7;  // three batches; the last one has one sample

DataLoader loader() {
  std::vector<std::int64_t> indices(kSamples);
  std::iota(indices.begin(), indices.end(), 0);
  return DataLoader(TensorDataset(tensor(indices), tensor(indices)),
                    {.batch_size = 3, .shuffle = true, .seed = 5});
}

TEST(BatchStream, ContinuesThroughEpochsFromAnyBatch) {
  std::vector<std::vector<std::int64_t>> all;
  DataLoader epochs = loader();
  for (int epoch = 0; epoch < 4; ++epoch) {
    for (const Batch& batch : epochs) all.push_back(batch.first.to_vector<std::int64_t>());
  }
  ASSERT_EQ(all.size(), 12u);

  BatchStream stream(epochs);  // starts with epoch 0, although `epochs` has reached epoch 4
  EXPECT_EQ(stream.epoch_size(), 3);
  for (const std::int64_t start : {0, 2, 3, 7, 1}) {
    if (start > 0) stream.seek(start);
    for (std::size_t i = static_cast<std::size_t>(start); i < all.size(); ++i) {
      EXPECT_EQ(stream.next().first.to_vector<std::int64_t>(), all[i]) << start << ", " << i;
    }
  }
}

/// Sample i is i, for i < 6; the sample `broken` throws.
struct Broken {
  std::int64_t broken;

  std::int64_t size() const { return 6; }
  Batch get_batch(std::span<const std::int64_t> indices) const {
    if (indices[0] == broken) throw std::runtime_error("broken sample");
    const Tensor samples = tensor(std::vector<std::int64_t>(indices.begin(), indices.end()));
    return {samples, samples};
  }
};

TEST(BatchStream, AnExceptionReplacesItsBatchAndEndsTheEpoch) {
  constexpr std::int64_t kThrows = -1;
  const auto next = [](BatchStream& stream) {
    try {
      return stream.next().first.item<std::int64_t>();
    } catch (const std::runtime_error&) {
      return kThrows;
    }
  };
  for (const int prefetch : {0, 2}) {
    BatchStream third_broken(DataLoader(Broken{2}, {.prefetch = prefetch}));
    for (const std::int64_t expected : {0, 1, -1, 0, 1, -1, 0}) {
      EXPECT_EQ(next(third_broken), expected) << prefetch;
    }
    third_broken.seek(4);
    for (const std::int64_t expected : {4, 5, 0, 1, -1}) {
      EXPECT_EQ(next(third_broken), expected) << prefetch;
    }
    BatchStream first_broken(DataLoader(Broken{0}, {.prefetch = prefetch}));
    EXPECT_EQ(next(first_broken), kThrows);
    EXPECT_EQ(next(first_broken), kThrows);
    first_broken.seek(5);
    EXPECT_EQ(next(first_broken), 5);
  }
}

TEST(BatchStream, RefusesEmptyLoadersAndNegativePositions) {
  const Tensor none = empty({0, 1});
  EXPECT_THROW(BatchStream(DataLoader(TensorDataset(none, none))), std::invalid_argument);
  EXPECT_THROW(BatchStream(loader()).seek(-1), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::data
