#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/compat/torch.h>

// Datasets of chunks, and other datasets with a position of their own.
namespace {

namespace torch = halfgrad;
namespace data = torch::data;
using data::datasets::ChunkDatasetOptions;
using Values = std::vector<int>;
using InOrder = data::samplers::SequentialSampler;

/// 0, 1, ... 9, and then nothing. It is called by one thread at a time.
struct UpTo10 : data::datasets::StatefulDataset<UpTo10, int> {
  std::optional<int> get_batch(std::size_t) override {
    if (next == 10) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::microseconds(100 * (next % 3)));
    return next++;
  }
  std::optional<std::size_t> size() const override { return std::nullopt; }
  void reset() override { next = 0; }

  int next = 0;
};

TEST(StatefulDataset, GivesEachBatchOnceWithWorkers) {
  Values expected(10);
  std::iota(expected.begin(), expected.end(), 0);
  for (const std::size_t workers : {0, 1, 4, 12}) {
    auto loader = data::make_data_loader(UpTo10(), data::DataLoaderOptions().workers(workers));
    for (int epoch = 0; epoch < 3; ++epoch) {
      Values seen;
      for (const int batch : *loader) seen.push_back(batch);
      EXPECT_EQ(seen, expected) << workers << " workers, epoch " << epoch;
    }
  }
}

struct Failing : UpTo10 {
  std::optional<int> get_batch(std::size_t size) override {
    auto batch = UpTo10::get_batch(size);
    if (batch == 4) throw std::out_of_range("no batch 4");
    return batch;
  }
};

TEST(StatefulDataset, GoesOnAfterAnException) {
  using Loaded = data::datasets::SharedBatchDataset<Failing>;
  auto loader = data::make_data_loader(Loaded(std::make_shared<Failing>()),
                                       data::DataLoaderOptions().workers(3));
  Values seen;
  auto batch = loader->begin();
  for (; *batch < 3; ++batch) seen.push_back(*batch);
  EXPECT_EQ(seen, (Values{0, 1, 2}));
  EXPECT_THROW(++batch, data::WorkerException);
  loader->join();
}

/// Chunk i has i + 2 samples: 10 i, 10 i + 1, ...
struct Reader : data::datasets::ChunkDataReader<int> {
  Values read_chunk(std::size_t chunk_index) override {
    Values chunk(chunk_index + 2);
    std::iota(chunk.begin(), chunk.end(), static_cast<int>(10 * chunk_index));
    return chunk;
  }
  std::size_t chunk_count() override { return 3; }
  void reset() override { ++epochs; }

  int epochs = 0;
};
using InOrderDataset = data::datasets::ChunkDataset<Reader, InOrder, InOrder>;

InOrderDataset in_order(std::size_t batch_size) {
  return {Reader(), InOrder(0), InOrder(0), ChunkDatasetOptions(1, batch_size)};
}

/// All batches of an epoch.
std::vector<Values> epoch_of(auto& dataset, std::size_t batch_size) {
  std::vector<Values> batches;
  dataset.reset();
  while (auto batch = dataset.get_batch(batch_size)) batches.push_back(*batch);
  return batches;
}

TEST(ChunkDataset, FillsBatchesAcrossChunks) {
  auto dataset = in_order(4);
  const std::vector<Values> expected = {{0, 1, 10, 11}, {12, 20, 21, 22}, {23}};
  EXPECT_EQ(epoch_of(dataset, 4), expected);
  EXPECT_EQ(epoch_of(dataset, 4), expected) << "the next epoch";
  EXPECT_EQ(dataset.chunk_sampler().index(), 3);
  EXPECT_FALSE(dataset.size().has_value());
}

TEST(ChunkDataset, IsReadByALoaderWithWorkers) {
  for (const std::size_t workers : {0, 2}) {
    auto loader =
        data::make_data_loader(data::datasets::make_shared_dataset<InOrderDataset>(
                                   Reader(), InOrder(0), InOrder(0), ChunkDatasetOptions(1, 2)),
                               data::DataLoaderOptions(2).workers(workers));
    for (int epoch = 0; epoch < 2; ++epoch) {
      Values seen;
      for (const Values& batch : *loader) seen.insert(seen.end(), batch.begin(), batch.end());
      EXPECT_EQ(seen, (Values{0, 1, 10, 11, 12, 20, 21, 22, 23})) << workers << " workers";
    }
  }
}

TEST(ChunkDataset, MixesTheSamplesOfSeveralChunks) {
  torch::manual_seed(3);
  data::datasets::ChunkDataset<Reader, InOrder> dataset(
      Reader(), InOrder(0), data::samplers::RandomSampler(0), ChunkDatasetOptions(1, 5, 2048, 2));
  const auto batches = epoch_of(dataset, 5);
  ASSERT_EQ(batches.size(), 2);
  Values first = batches[0];
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
  std::sort(first.begin(), first.end());
  EXPECT_EQ(first, (Values{0, 1, 10, 11, 12})) << "the first two chunks";
}

TEST(ChunkDataset, PreprocessesWhatIsReadAtOnce) {
  InOrderDataset dataset(
      Reader(), InOrder(0), InOrder(0), ChunkDatasetOptions(1, 3, 2048, 3),
      [](Values& samples) { std::sort(samples.begin(), samples.end(), std::greater<>()); });
  EXPECT_EQ(epoch_of(dataset, 3), (std::vector<Values>{{23, 22, 21}, {20, 12, 11}, {10, 1, 0}}));
}

TEST(ChunkDataset, ContinuesAfterTheSavedChunk) {
  auto dataset = in_order(2), loaded = in_order(2);
  dataset.reset();
  dataset.get_batch();
  std::stringstream stream;
  torch::save(dataset, stream);
  torch::load(loaded, stream);
  EXPECT_EQ(epoch_of(loaded, 2).front(), (Values{10, 11}));
  EXPECT_EQ(epoch_of(loaded, 2).front(), (Values{0, 1})) << "the next epoch starts anew";
}

TEST(ChunkDataset, RefusesBadOptionsAndOtherBatchSizes) {
  const auto make = [](ChunkDatasetOptions options) {
    const InOrderDataset dataset(Reader(), InOrder(0), InOrder(0), options);
  };
  EXPECT_NO_THROW(make({1, 8, 8}));
  EXPECT_THROW(make({0, 8}), std::invalid_argument);
  EXPECT_THROW(make({1, 0}), std::invalid_argument);
  EXPECT_THROW(make({1, 8, 7}), std::invalid_argument);
  EXPECT_THROW(make({1, 8, 8, 0}), std::invalid_argument);
  auto dataset = in_order(2);
  EXPECT_THROW(dataset.get_batch(3), std::invalid_argument);
}

struct EndlessZeros : data::datasets::StatefulDataset<EndlessZeros, int> {
  std::optional<int> get_batch(std::size_t) override { return 0; }
  std::optional<std::size_t> size() const override { return std::nullopt; }
  void reset() override {}
};

TEST(StatefulDataset, RefusesToBeSavedUnlessItDefinesHow) {
  std::stringstream stream;
  EXPECT_THROW(torch::save(EndlessZeros(), stream), std::invalid_argument);
}

TEST(DistributedSamplers, AreSavedWithTheirEpoch) {
  data::samplers::DistributedRandomSampler a(10, 2, 1), b(10, 2, 1);
  a.set_epoch(3);
  a.reset();
  a.next(2);
  std::stringstream stream;
  torch::save(a, stream);
  torch::load(b, stream);
  EXPECT_EQ(b.epoch(), 3);
  EXPECT_EQ(b.index(), 2);
  EXPECT_EQ(b.next(10).value(), a.next(10).value());
  data::samplers::DistributedRandomSampler other(12, 2, 1);
  stream.clear();
  stream.seekg(0);
  EXPECT_THROW(torch::load(other, stream), std::invalid_argument);
}

}  // namespace
