#include <halfgrad/data/batch_stream.h>

#include <numeric>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/autograd/creation.h>

namespace halfgrad::data {
namespace {

constexpr std::int64_t kSamples = 7;  // three batches, the last of one sample

DataLoader loader() {
  std::vector<std::int64_t> numbers(kSamples);
  std::iota(numbers.begin(), numbers.end(), 0);
  return DataLoader(TensorDataset(tensor(numbers), tensor(numbers)),
                    {.batch_size = 3, .shuffle = true, .seed = 5});
}

TEST(BatchStream, RunsThroughEpochAfterEpochFromAnywhere) {
  std::vector<std::vector<std::int64_t>> all;
  DataLoader epochs = loader();
  for (int epoch = 0; epoch < 4; ++epoch) {
    for (const Batch& batch : epochs) all.push_back(batch.first.to_vector<std::int64_t>());
  }
  ASSERT_EQ(all.size(), 12u);

  BatchStream stream(epochs);  // that is in epoch 4 itself
  EXPECT_EQ(stream.epoch_size(), 3);
  for (const std::int64_t start : {0, 2, 3, 7, 1}) {
    if (start > 0) stream.seek(start);
    for (std::size_t i = static_cast<std::size_t>(start); i < all.size(); ++i) {
      EXPECT_EQ(stream.next().first.to_vector<std::int64_t>(), all[i]) << start << ", " << i;
    }
  }
}

TEST(BatchStream, RefusesWhatHasNoBatches) {
  const Tensor none = empty({0, 1});
  EXPECT_THROW(BatchStream(DataLoader(TensorDataset(none, none))), std::invalid_argument);
  EXPECT_THROW(BatchStream(loader()).seek(-1), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::data
