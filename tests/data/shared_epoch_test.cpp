#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/data/batch_stream.h>
#include <halfgrad/data/data_loader.h>

/// Ranks that share the samples of an epoch.
namespace halfgrad::data {
namespace {

using Samples = std::vector<std::int64_t>;

TensorDataset numbers(std::int64_t count) {
  Samples indices(count);
  std::iota(indices.begin(), indices.end(), 0);
  return {tensor(indices), tensor(indices)};
}

DataLoader loader_of(int rank, DataLoaderOptions options, std::int64_t samples = 23) {
  options.rank = rank;
  return DataLoader(numbers(samples), options);
}

// One epoch of each rank from `start` on: the batches of all ranks, joined in the order of ranks.
std::vector<Samples> global_batches(const DataLoaderOptions& options, LoaderPosition start,
                                    std::int64_t samples = 23) {
  std::vector<Samples> joined;
  for (int rank = 0; rank < options.num_replicas; ++rank) {
    DataLoader loader = loader_of(rank, options, samples);
    loader.set_position(start);
    std::size_t batch = 0;
    for (const auto& [x, y] : loader) {
      if (rank == 0) joined.emplace_back();
      const Samples part = x.to_vector<std::int64_t>();
      EXPECT_EQ(part.size() * rank, joined.at(batch).size()) << "ranks differ in sizes";
      joined[batch].insert(joined[batch].end(), part.begin(), part.end());
      ++batch;
    }
    EXPECT_EQ(batch, joined.size()) << "ranks differ in batches";
  }
  return joined;
}

Samples flattened(const std::vector<Samples>& batches) {
  Samples all;
  for (const Samples& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

class SharedEpoch : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, SharedEpoch, ::testing::Values(1, 2, 3, 4));

TEST_P(SharedEpoch, JoinedPartsAreTheBatchesOfOneRank) {
  const int ranks = GetParam();
  for (const int prefetch : {0, 1, 3}) {
    DataLoaderOptions options{.batch_size = 2, .shuffle = true, .seed = 7, .prefetch = prefetch};
    options.num_replicas = ranks;
    options.drop_last = true;
    const DataLoaderOptions alone{
        .batch_size = 2 * ranks, .shuffle = true, .drop_last = true, .seed = 7};
    for (const std::int64_t epoch : {0, 5}) {
      EXPECT_EQ(global_batches(options, {epoch, 0}), global_batches(alone, {epoch, 0}));
    }
  }
}

TEST_P(SharedEpoch, FillsTheLastBatchWithTheFirstSamples) {
  const int ranks = GetParam();
  const DataLoaderOptions options{
      .batch_size = 3, .shuffle = true, .seed = 7, .num_replicas = ranks};
  Samples expected = loader_of(0, options).order(0);
  const Samples order = expected;
  for (std::size_t i = 0; expected.size() % ranks != 0; ++i) expected.push_back(order[i]);
  EXPECT_EQ(flattened(global_batches(options, {0, 0})), expected);
}

TEST_P(SharedEpoch, AnotherNumberOfRanksGoesOnWhereTheOthersStopped) {
  const int ranks = GetParam();
  for (const int later : {1, 2, 3, 4}) {
    const DataLoaderOptions options{
        .batch_size = 2, .shuffle = true, .seed = 3, .num_replicas = ranks};
    DataLoaderOptions resized = options;
    resized.num_replicas = later;
    resized.batch_size = 3;
    BatchStream stream(loader_of(ranks - 1, options));
    Samples seen;
    for (std::size_t batches = 0; batches < 2; ++batches) {
      stream.next();
      const Samples batch = global_batches(options, {0, 0}).at(batches);
      seen.insert(seen.end(), batch.begin(), batch.end());
      ASSERT_EQ(stream.position(), (LoaderPosition{0, std::ssize(seen)}));
    }
    const Samples rest = flattened(global_batches(resized, stream.position()));
    seen.insert(seen.end(), rest.begin(), rest.end());
    std::map<std::int64_t, int> times;
    for (const std::int64_t sample : seen) ++times[sample];
    EXPECT_EQ(times.size(), 23U) << "a sample was left out";
    const auto added = std::ssize(seen) - 23;  // to the last batch, of less than a sample a rank
    EXPECT_LT(added, later);
    for (const auto& [sample, count] : times) EXPECT_LE(count, 1 + (added > 0 ? 1 : 0));
  }
}

TEST(SharedEpochs, CoverFewerSamplesThanRanks) {
  const DataLoaderOptions options{.batch_size = 2, .num_replicas = 4};
  EXPECT_EQ(global_batches(options, {0, 0}, 1), (std::vector<Samples>{{0, 0, 0, 0}}));
  EXPECT_EQ(global_batches(options, {0, 0}, 3), (std::vector<Samples>{{0, 1, 2, 0}}));
  EXPECT_TRUE(global_batches(options, {0, 0}, 0).empty());
}

TEST(SharedEpochs, StreamsGoOnWithTheNextEpochIfTheRestIsDropped) {
  const DataLoaderOptions options{.batch_size = 2, .drop_last = true, .num_replicas = 3};
  BatchStream stream(loader_of(1, options));
  stream.seek(LoaderPosition{4, 20});  // 3 samples of 23 are left, of the 6 that a batch needs
  EXPECT_EQ(stream.position(), (LoaderPosition{4, 20}));
  EXPECT_EQ(stream.next().first.to_vector<std::int64_t>(), (Samples{2, 3}));
  EXPECT_EQ(stream.position(), (LoaderPosition{5, 6}));
  stream.next();
  stream.next();
  EXPECT_EQ(stream.position(), (LoaderPosition{6, 0}));
  stream.seek(3);
  EXPECT_EQ(stream.position(), (LoaderPosition{1, 0}));
}

/// y is a random number of the batch's generator.
struct Noise {
  std::int64_t size() const { return 16; }
  Batch get_batch(std::span<const std::int64_t> indices) const {
    const Tensor y = rand({std::ssize(indices)});
    return {y, y};
  }
};

TEST(SharedEpochs, RanksDrawDifferentRandomNumbers) {
  std::vector<float> drawn;
  for (int rank = 0; rank < 4; ++rank) {
    // The last batch has one sample for each rank.
    DataLoader loader(Noise(), {.batch_size = 3, .num_replicas = 4, .rank = rank});
    for (const auto& [x, y] : loader) {
      for (const float value : x.to_vector<float>()) drawn.push_back(value);
    }
  }
  ASSERT_EQ(drawn.size(), 16U);
  std::sort(drawn.begin(), drawn.end());
  EXPECT_EQ(std::unique(drawn.begin(), drawn.end()), drawn.end());
}

TEST(SharedEpochs, RefusesRanksAndPositionsThatDoNotExist) {
  EXPECT_THROW(loader_of(2, {.num_replicas = 2}), std::invalid_argument);
  EXPECT_THROW(loader_of(-1, {.num_replicas = 2}), std::invalid_argument);
  EXPECT_THROW(loader_of(0, {.num_replicas = 0}), std::invalid_argument);
  DataLoader loader = loader_of(0, {});
  EXPECT_THROW(loader.set_position({0, 24}), std::invalid_argument);
  EXPECT_THROW(loader.set_position({0, -1}), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::data
