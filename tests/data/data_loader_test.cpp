#include <halfgrad/data/data_loader.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/autograd/creation.h>

namespace halfgrad::data {
namespace {

/// Sample i is x = i, y = -i. Counts the batches made; throws at the sample `broken`.
struct Numbers {
  std::int64_t count;
  std::int64_t broken = -1;
  std::shared_ptr<std::atomic<int>> batches = std::make_shared<std::atomic<int>>(0);

  std::int64_t size() const { return count; }
  Batch get_batch(std::span<const std::int64_t> indices) const {
    ++*batches;
    std::vector<std::int64_t> x(indices.begin(), indices.end()), y;
    if (std::find(x.begin(), x.end(), broken) != x.end()) throw std::runtime_error("broken sample");
    for (const std::int64_t i : x) y.push_back(-i);
    return {tensor(x), tensor(y)};
  }
};

using Batches = std::vector<std::vector<std::int64_t>>;

Batches one_epoch(DataLoader& loader) {
  Batches batches;
  for (auto [x, y] : loader) {
    batches.push_back(x.to_vector<std::int64_t>());
    const auto targets = y.to_vector<std::int64_t>();
    for (size_t i = 0; i < targets.size(); ++i) EXPECT_EQ(targets[i], -batches.back()[i]);
  }
  return batches;
}

std::vector<std::int64_t> joined(const Batches& batches) {
  std::vector<std::int64_t> all;
  for (const auto& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

class Loader : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Prefetch, Loader, ::testing::Values(0, 1, 2, 50));

TEST(LoaderCopies, CountTheirOwnEpochs) {
  DataLoader loader(Numbers{4}, {.batch_size = 2, .shuffle = true});
  DataLoader copy = loader;
  const Batches first = one_epoch(loader);
  EXPECT_EQ(one_epoch(copy), first);
  DataLoader moved = std::move(copy);
  EXPECT_EQ(one_epoch(moved), one_epoch(loader));
}

TEST_P(Loader, CutsTheDataIntoBatches) {
  struct Case {
    std::int64_t samples, batch_size;
    bool drop_last;
    Batches expected;
  };
  const Case cases[] = {
      {5, 2, false, {{0, 1}, {2, 3}, {4}}},
      {5, 2, true, {{0, 1}, {2, 3}}},
      {4, 2, false, {{0, 1}, {2, 3}}},
      {4, 2, true, {{0, 1}, {2, 3}}},
      {2, 5, false, {{0, 1}}},
      {2, 5, true, {}},
      {2, std::numeric_limits<std::int64_t>::max(), false, {{0, 1}}},
      {2, std::numeric_limits<std::int64_t>::max(), true, {}},
      {0, 3, false, {}},
      {3, 1, true, {{0}, {1}, {2}}},
  };
  for (const Case& c : cases) {
    DataLoader loader(
        Numbers{c.samples},
        {.batch_size = c.batch_size, .drop_last = c.drop_last, .prefetch = GetParam()});
    EXPECT_EQ(one_epoch(loader), c.expected);
    EXPECT_EQ(loader.size(), std::ssize(c.expected));
  }
}

TEST_P(Loader, EpochsAreDifferentOrdersOfEverySample) {
  DataLoader loader(Numbers{100},
                    {.batch_size = 7, .shuffle = true, .seed = 3, .prefetch = GetParam()});
  const auto first = joined(one_epoch(loader)), second = joined(one_epoch(loader));
  EXPECT_NE(first, second);
  std::vector<std::int64_t> every(100);
  std::iota(every.begin(), every.end(), 0);
  for (auto order : {first, second}) {
    EXPECT_NE(order, every);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, every);
  }
  loader.set_epoch(1);
  EXPECT_EQ(joined(one_epoch(loader)), second);
}

TEST(DataLoader, OrderIsAFunctionOfSeedAndEpochAlone) {
  const auto order = [](std::uint64_t seed, std::int64_t epoch, std::int64_t batch_size,
                        int prefetch) {
    DataLoader loader(
        Numbers{50},
        {.batch_size = batch_size, .shuffle = true, .seed = seed, .prefetch = prefetch});
    loader.set_epoch(epoch);
    return joined(one_epoch(loader));
  };
  EXPECT_EQ(order(1, 4, 8, 0), order(1, 4, 3, 2));
  EXPECT_NE(order(1, 4, 8, 0), order(2, 4, 8, 0));
  EXPECT_NE(order(1, 4, 8, 0), order(1, 5, 8, 0));
}

TEST_P(Loader, StartsAtAnyBatchOfAnyEpoch) {
  const DataLoaderArguments options{
      .batch_size = 3, .shuffle = true, .seed = 1, .prefetch = GetParam()};
  DataLoader straight(Numbers{10}, options);
  one_epoch(straight);
  const Batches second = one_epoch(straight), third = one_epoch(straight);
  for (std::int64_t batch = 0; batch <= 4; ++batch) {
    DataLoader resumed(Numbers{10}, options);
    resumed.set_epoch(1, batch);
    EXPECT_EQ(one_epoch(resumed), Batches(second.begin() + batch, second.end()));
    EXPECT_EQ(one_epoch(resumed), third);
  }
  EXPECT_THROW(straight.set_epoch(0, -1), std::invalid_argument);
  EXPECT_THROW(straight.set_epoch(0, 5), std::invalid_argument);
}

TEST_P(Loader, ExceptionsArriveInPlaceOfTheirBatch) {
  DataLoader loader(Numbers{.count = 10, .broken = 5}, {.batch_size = 2, .prefetch = GetParam()});
  for (int epoch = 0; epoch < 2; ++epoch) {
    int seen = 0;
    try {
      for (auto [x, y] : loader) seen += static_cast<int>(x.numel());
      FAIL() << "expected an exception";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "broken sample");
    }
    EXPECT_EQ(seen, 4);
  }
  DataLoader broken_at_once(Numbers{.count = 10, .broken = 0}, {.prefetch = GetParam()});
  EXPECT_THROW(broken_at_once.begin(), std::runtime_error);
}

TEST_P(Loader, ExceptionsEndTheEpoch) {
  DataLoader loader(Numbers{.count = 10, .broken = 5}, {.batch_size = 2, .prefetch = GetParam()});
  auto batch = loader.begin();
  ++batch;
  EXPECT_THROW(++batch, std::runtime_error);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(batch == loader.end());
    EXPECT_NO_THROW(++batch);
  }
}

/// Batches on the default device of the thread that makes them.
struct Ones {
  std::int64_t size() const { return 6; }
  Batch get_batch(std::span<const std::int64_t>) const { return {ones({1}), ones({1})}; }
};

TEST_P(Loader, MakesTensorsOnTheDefaultDeviceOfTheEpochsStart) {
  const Device here = get_default_device(), there(kCPU, 1);
  set_default_device(there);
  DataLoader loader(Ones(), {.prefetch = GetParam()});
  auto batch = loader.begin();
  set_default_device(here);
  for (; batch != loader.end(); ++batch) EXPECT_EQ((*batch).first.device(), there);
  EXPECT_EQ(get_default_device(), here);
}

TEST_P(Loader, MayBeLeftEarly) {
  DataLoader loader(Numbers{1000}, {.batch_size = 1, .prefetch = GetParam()});
  for (int epoch = 0; epoch < 20; ++epoch) {
    for (auto [x, y] : loader) {
      if (x.item<int>() == epoch) break;
    }
  }
  EXPECT_EQ(one_epoch(loader).size(), 1000u);
}

TEST_P(Loader, PreparesAtMostPrefetchBatches) {
  Numbers dataset{1000};
  DataLoader loader(dataset, {.batch_size = 1, .prefetch = GetParam()});
  int received = 0;
  for (auto [x, y] : loader) {
    ++received;
    EXPECT_LE(*dataset.batches, received + GetParam());
    if (received == 20) break;
  }
}

TEST(DataLoader, IteratorOutlivesItsLoader) {
  auto loader = std::make_unique<DataLoader>(Numbers{10}, DataLoaderArguments{.batch_size = 3});
  auto batch = loader->begin();
  loader.reset();
  int batches = 0;
  for (; batch != std::default_sentinel; ++batch) ++batches;
  EXPECT_EQ(batches, 4);
}

TEST(DataLoader, RefusesInvalidOptions) {
  EXPECT_THROW(DataLoader(Numbers{1}, {.batch_size = 0}), std::invalid_argument);
  EXPECT_THROW(DataLoader(Numbers{1}, {.prefetch = -1}), std::invalid_argument);
}

TEST(TensorDataset, CopiesRowsOfAnyDtypeAndLayout) {
  const Tensor x = tensor({{0.0, 1.0, 2.0}, {3.0, 4.0, 5.0}}, {.dtype = kBFloat16}).t();
  const TensorDataset dataset(x, tensor({7, 8, 9}, {.dtype = kUInt8}));
  EXPECT_EQ(dataset.size(), 3);
  const auto [rows, labels] = dataset.get_batch(std::vector<std::int64_t>{2, 0, 2});
  EXPECT_EQ(rows.sizes(), (Shape{3, 2}));
  EXPECT_EQ(rows.dtype(), kBFloat16);
  EXPECT_EQ(rows.to_vector<double>(), (std::vector<double>{2, 5, 0, 3, 2, 5}));
  EXPECT_EQ(labels.dtype(), kUInt8);
  EXPECT_EQ(labels.to_vector<int>(), (std::vector<int>{9, 7, 9}));
  EXPECT_EQ(dataset.get_batch({}).first.sizes(), (Shape{0, 2}));
}

TEST(TensorDataset, RefusesWrongShapesAndIndices) {
  EXPECT_THROW(TensorDataset(zeros({3, 2}), zeros({2})), std::invalid_argument);
  EXPECT_THROW(TensorDataset(tensor(1.0), tensor(1.0)), std::invalid_argument);
  const TensorDataset dataset(zeros({3, 2}), zeros({3}));
  EXPECT_THROW(dataset.get_batch(std::vector<std::int64_t>{3}), std::out_of_range);
  EXPECT_THROW(dataset.get_batch(std::vector<std::int64_t>{-1}), std::out_of_range);
}

}  // namespace
}  // namespace halfgrad::data
