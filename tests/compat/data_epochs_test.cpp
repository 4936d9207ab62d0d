#include <halfgrad/compat/torch.h>

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/tests/message_of.h>

// The beginning and the end of a loader's epochs. libtorch 2.15 does the same.
namespace {

namespace torch = halfgrad;
namespace data = torch::data;
using torch::message_of;

struct Counting : data::Dataset<Counting, data::Example<int, int>> {
  data::Example<int, int> get(std::size_t index) override { return {static_cast<int>(index), 0}; }
  std::optional<std::size_t> size() const override { return 10; }
};

/// Batches of 4 in the order of the dataset.
auto loader_of(std::size_t workers) {
  return data::make_data_loader(Counting(), data::samplers::SequentialSampler(10),
                                data::DataLoaderOptions(4).workers(workers));
}

/// The first samples of the batches, of `count` batches at most.
template <class Loader>
std::vector<int> first_samples(Loader& loader, std::size_t count) {
  std::vector<int> samples;
  for (const auto& batch : loader) {
    samples.push_back(batch.front().data);
    if (samples.size() == count) break;
  }
  return samples;
}

TEST(Epochs, StartAfreshAfterABreak) {
  const auto loader = loader_of(0);
  for (int epoch = 0; epoch < 3; ++epoch) {
    EXPECT_EQ(first_samples(*loader, 2), (std::vector<int>{0, 4})) << epoch;
  }
  EXPECT_EQ(first_samples(*loader, 9), (std::vector<int>{0, 4, 8}));
}

TEST(Epochs, WaitForJoinWhileWorkersComputeBatches) {
  const auto loader = loader_of(2);
  EXPECT_EQ(first_samples(*loader, 1), (std::vector<int>{0}));
  EXPECT_EQ(message_of([&] { loader->begin(); }),
            "DataLoader::begin: expected the last epoch to be at its end, got 2 batches that "
            "workers compute for it; call join() to give it up");
  loader->join();
  EXPECT_EQ(first_samples(*loader, 3), (std::vector<int>{0, 4, 8}));
  EXPECT_EQ(first_samples(*loader, 9), (std::vector<int>{0, 4, 8})) << "no batch was left";
  auto iterator = loader->begin();
  iterator = loader->end();
  EXPECT_THROW(*iterator, std::invalid_argument);
  EXPECT_THROW(data::make_data_loader(Counting(), 0), std::invalid_argument);
}

}  // namespace
