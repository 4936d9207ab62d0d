#include <array>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/compat/torch.h>
#include <halfgrad/tests/message_of.h>

// Datasets, samplers and loaders as programs for libtorch write them.
namespace {

namespace torch = halfgrad;
namespace data = torch::data;
using torch::message_of;
using Indices = std::vector<std::size_t>;

/// Sample i is i, with the target 10 i.
struct Numbers : data::datasets::Dataset<Numbers, data::Example<int, int>> {
  explicit Numbers(std::size_t n) : count(n) {}
  data::Example<int, int> get(std::size_t index) override {
    if (index == fails_at) throw std::out_of_range("no such sample");
    return {static_cast<int>(index), static_cast<int>(10 * index)};
  }
  std::optional<std::size_t> size() const override { return count; }

  std::size_t count, fails_at = 1000;
};

/// The sum of each batch.
auto sums() {
  using Batch = std::vector<data::Example<int, int>>;
  return data::transforms::BatchLambda<Batch, int>([](Batch batch) {
    int sum = 0;
    for (const auto& sample : batch) sum += sample.data;
    return sum;
  });
}

template <class Loader>
std::vector<int> all(Loader& loader) {
  return {loader.begin(), loader.end()};
}

TEST(DataLoader, GivesBatchesInOrderWithAnyNumberOfWorkers) {
  for (const std::size_t workers : {0, 1, 3}) {
    auto loader =
        data::make_data_loader(Numbers(10).map(sums()), data::samplers::SequentialSampler(10),
                               data::DataLoaderOptions().batch_size(4).workers(workers));
    for (int epoch = 0; epoch < 2; ++epoch) {
      EXPECT_EQ(all(*loader), (std::vector<int>{6, 22, 17})) << workers;
    }
    EXPECT_EQ(loader->options().max_jobs, 2 * workers);
  }
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      Numbers(10).map(sums()), data::DataLoaderOptions(4).drop_last(true));
  EXPECT_EQ(all(*loader), (std::vector<int>{6, 22}));
}

TEST(DataLoader, ShufflesByDefault) {
  torch::manual_seed(3);
  auto loader = data::make_data_loader(Numbers(50), 50);
  Indices order;
  for (const auto& sample : *loader->begin())
    order.push_back(static_cast<std::size_t>(sample.data));
  Indices sorted(50);
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  EXPECT_NE(order, sorted);
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, sorted);
}

TEST(DataLoader, PassesOnExceptions) {
  Numbers broken(10);
  broken.fails_at = 5;
  auto loader = data::make_data_loader(broken.map(sums()), data::samplers::SequentialSampler(10),
                                       data::DataLoaderOptions().batch_size(4).workers(2));
  auto iterator = loader->begin();
  EXPECT_EQ(*iterator, 6);
  try {
    ++iterator;
    FAIL() << "expected an exception";
  } catch (const data::WorkerException& error) {
    EXPECT_EQ(std::string(error.what()), "DataLoader: a worker threw: no such sample");
    EXPECT_THROW(std::rethrow_exception(error.original_exception), std::out_of_range);
  }
}

TEST(DataLoader, GoesOnAfterAnException) {
  for (const std::size_t workers : {0, 1, 3}) {
    Numbers broken(12);
    broken.fails_at = 5;
    auto loader = data::make_data_loader(broken.map(sums()), data::samplers::SequentialSampler(12),
                                         data::DataLoaderOptions().batch_size(3).workers(workers));
    auto iterator = loader->begin();
    EXPECT_EQ(*iterator, 3);
    EXPECT_ANY_THROW(++iterator) << "samples 3, 4 and 5";
    EXPECT_TRUE(iterator != loader->end());
    EXPECT_EQ(message_of([&] { *iterator; }),
              "DataLoader: expected a batch, got none: the last ++ threw; another ++ fetches the "
              "next batch");
    ++iterator;
    EXPECT_EQ(*iterator, 21);
    ++iterator;
    EXPECT_EQ(*iterator, 30);
    ++iterator;
    EXPECT_TRUE(iterator == loader->end());

    iterator = loader->begin();
    EXPECT_ANY_THROW(++iterator);
    iterator = loader->begin();  // no batch of the former epoch is left
    EXPECT_EQ(*iterator, 3);
  }
  Numbers broken(4);
  broken.fails_at = 0;
  auto loader = data::make_data_loader(broken.map(sums()), data::samplers::SequentialSampler(4),
                                       data::DataLoaderOptions().batch_size(2).workers(2));
  for (int epoch = 0; epoch < 2; ++epoch) EXPECT_ANY_THROW(loader->begin());
}

/// Counts down from 10, a batch at a time.
struct Countdown : data::datasets::StatefulDataset<Countdown, int> {
  std::optional<int> get_batch(std::size_t batch_size) override {
    if (left <= 0) return std::nullopt;
    return left -= static_cast<int>(batch_size);
  }
  std::optional<std::size_t> size() const override { return 10; }
  void reset() override { left = 10; }
  int left = 0;
};

TEST(DataLoader, TakesDatasetsWithAState) {
  auto loader = data::make_data_loader(Countdown(), data::DataLoaderOptions(4));
  for (int epoch = 0; epoch < 2; ++epoch) {
    EXPECT_EQ(all(*loader), (std::vector<int>{6, 2, -2}));
  }
  auto shared = data::datasets::make_shared_dataset<Countdown>();
  auto of_shared = data::make_data_loader(shared, 10);
  EXPECT_EQ(all(*of_shared), (std::vector<int>{0}));
  EXPECT_EQ(shared->left, 0);
}

TEST(Samplers, CutAnEpochIntoBatches) {
  data::samplers::SequentialSampler sequential(5);
  EXPECT_EQ(sequential.next(2).value(), (Indices{0, 1}));
  EXPECT_EQ(sequential.next(4).value(), (Indices{2, 3, 4}));
  EXPECT_FALSE(sequential.next(2));
  sequential.reset(2);
  EXPECT_EQ(sequential.next(9).value(), (Indices{0, 1}));
  data::samplers::StreamSampler stream(5);
  EXPECT_EQ(stream.next(3)->size(), 3);
  EXPECT_EQ(stream.next(3)->size(), 2);
  EXPECT_FALSE(stream.next(3));
  data::samplers::RandomSampler random(100);
  const Indices first = random.next(100).value();
  random.reset();
  EXPECT_NE(random.next(100).value(), first);
  EXPECT_EQ(random.index(), 100);
}

TEST(Samplers, AreSaved) {
  data::samplers::RandomSampler a(10);
  a.next(3);
  std::stringstream stream;
  torch::save(a, stream);
  data::samplers::RandomSampler b(4);
  torch::load(b, stream);
  EXPECT_EQ(b.index(), 3);
  EXPECT_EQ(b.next(10).value(), a.next(10).value());
  data::samplers::SequentialSampler c(10), d(10);
  c.next(7);
  std::stringstream second;
  torch::save(c, second);
  torch::load(d, second);
  EXPECT_EQ(d.next(10).value(), (Indices{7, 8, 9}));
}

// Otherwise a sampler would read beyond its order, and a dataset beyond its samples.
TEST(Samplers, RefuseAMalformedArchive) {
  const auto load = [](auto sampler, std::int64_t index, std::int64_t size,
                       const std::vector<std::int64_t>& order) {
    torch::serialize::OutputArchive archive;
    archive.write("index", torch::tensor(index));
    archive.write("size", torch::tensor(size));
    archive.write("epoch", torch::tensor(std::int64_t{0}));
    archive.write("order", torch::tensor(order));
    std::stringstream stream;
    archive.save_to(stream);
    sampler.next(1);
    const std::string message =
        halfgrad::message_of<std::invalid_argument>([&] { torch::load(sampler, stream); });
    if (message != "no error") {
      EXPECT_EQ(sampler.index(), 1) << "nothing has changed";
    }
    return message;
  };
  const std::string index = "load: expected a sampler's index in [0, size], got ";
  const auto expect_index_is_checked = [&](const auto& sampler) {
    EXPECT_EQ(load(sampler, 4, 4, {0, 1, 2, 3}), "no error");
    EXPECT_EQ(load(sampler, 5, 4, {0, 1, 2, 3}), index + "5 of size 4");
    EXPECT_EQ(load(sampler, -1, 4, {0, 1, 2, 3}), index + "-1 of size 4");
    EXPECT_EQ(load(sampler, 0, -4, {0, 1, 2, 3}), index + "0 of size -4");
  };
  const data::samplers::RandomSampler random(4);
  expect_index_is_checked(random);
  expect_index_is_checked(data::samplers::SequentialSampler(4));
  expect_index_is_checked(data::samplers::DistributedRandomSampler(4));
  const std::string order = "load: expected an order that has 0 to 3 once each, got another";
  EXPECT_EQ(load(random, 0, 4, {0, 1, 2}), order);
  EXPECT_EQ(load(random, 0, 4, {0, 1, 2, 4}), order);
  EXPECT_EQ(load(random, 0, 4, {0, 1, 2, 2}), order);
  EXPECT_EQ(load(random, 0, 4, {-1, 1, 2, 3}), order);
}

TEST(Samplers, AreDistributed) {
  for (const bool duplicates : {true, false}) {
    Indices found;
    for (std::size_t rank = 0; rank < 3; ++rank) {
      data::samplers::DistributedRandomSampler sampler(10, 3, rank, duplicates);
      const Indices part = sampler.next(10).value();
      EXPECT_EQ(part.size(), duplicates ? 4 : 3);
      found.insert(found.end(), part.begin(), part.end());
      sampler.set_epoch(1);
      sampler.reset();
      EXPECT_NE(sampler.next(10).value(), part);
    }
    std::sort(found.begin(), found.end());
    if (duplicates) {
      EXPECT_EQ(found, (Indices{0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    }
    found.erase(std::unique(found.begin(), found.end()), found.end());
    EXPECT_EQ(found.size(), duplicates ? 10 : 9);
  }
  data::samplers::DistributedSequentialSampler sampler(10, 3, 2);
  EXPECT_EQ(sampler.next(9).value(), (Indices{8, 9, 0, 1}));
  EXPECT_THROW(data::samplers::DistributedSequentialSampler(10, 3, 3), std::invalid_argument);
}

TEST(Transforms, StackAndNormalize) {
  auto set = data::datasets::TensorDataset(torch::arange(12, torch::kFloat).view({3, 4}))
                 .map(data::transforms::TensorLambda<data::example::NoTarget>(
                     [](torch::Tensor x) { return x + 1; }))
                 .map(data::transforms::Stack<data::TensorExample>());
  EXPECT_TRUE(set.get_batch(Indices{2, 0})
                  .data.equal(torch::tensor({{9.0, 10.0, 11.0, 12.0}, {1.0, 2.0, 3.0, 4.0}})));
  EXPECT_EQ(set.size().value(), 3);
  data::transforms::Normalize<> normalize({1.0, 2.0}, {2.0, 4.0});
  const torch::Tensor image = normalize(torch::full({2, 3, 3}, 5.0));
  EXPECT_EQ(image[0][0][0].item<float>(), 2.0f);
  EXPECT_EQ(image[1][2][2].item<float>(), 0.75f);
  data::transforms::Lambda<int, std::string> text([](int i) { return std::to_string(i); });
  EXPECT_EQ(text.apply_batch({1, 2}), (std::vector<std::string>{"1", "2"}));
}

TEST(ArrayRef, SeesElements) {
  const std::vector<int> values{1, 2, 3};
  const torch::ArrayRef<int> view = values;
  EXPECT_EQ(view.size(), 3);
  EXPECT_EQ(view.slice(1).vec(), (std::vector<int>{2, 3}));
  EXPECT_EQ(view.back(), 3);
  EXPECT_THROW(view.at(3), std::out_of_range);
  EXPECT_TRUE(view == torch::ArrayRef<int>(values.data(), 3));
  EXPECT_TRUE(torch::tensor(view).equal(torch::tensor({1, 2, 3})));
  EXPECT_EQ(torch::tensor(view, torch::kDouble).dtype(), torch::kDouble);
  const std::array<bool, 3> bits{true, false, true};
  EXPECT_EQ(torch::ArrayRef<bool>(bits).vec(), (std::vector<bool>{true, false, true}));
  EXPECT_TRUE(torch::tensor(torch::ArrayRef<bool>(bits)).equal(torch::tensor({true, false, true})));
  const std::vector<double> halves{0.5, 1};
  EXPECT_EQ(torch::tensor(torch::ArrayRef<double>(halves)).dtype(), torch::kFloat);
}

}  // namespace
