#include <halfgrad/data/data_loader.h>

#include <cstdint>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/amp/autocast.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>
#include <halfgrad/data/batch_stream.h>

namespace halfgrad::data {
namespace {

constexpr int kPrefetches[] = {0, 1, 2, 50};

/// Adds noise to each sample, one draw per sample; y is a random permutation.
struct Augmented {
  std::int64_t size() const { return 23; }
  Batch get_batch(std::span<const std::int64_t> indices) const {
    const auto count = static_cast<std::int64_t>(indices.size());
    const Tensor x = zeros({count, 3}, {.dtype = kDouble});
    for (std::int64_t i = 0; i < count; ++i) {
      x[i].copy_(randn({3}, {.dtype = kDouble}) + static_cast<double>(indices[i]));
    }
    return {x, randperm(5)};
  }
};

using Values = std::vector<double>;

Values values_of(const Batch& batch) {
  Values values = batch.first.to_vector<double>();
  for (const double y : batch.second.to_vector<double>()) values.push_back(y);
  return values;
}

/// Returns the remaining batches of the loader's epoch; this thread draws random numbers, too.
std::vector<Values> drawn_epoch(DataLoader& loader) {
  std::vector<Values> batches;
  for (const Batch& batch : loader) {
    batches.push_back(values_of(batch));
    rand({4});
  }
  return batches;
}

DataLoaderArguments options_of(int prefetch, std::uint64_t seed = 7) {
  return {.batch_size = 4, .shuffle = true, .seed = seed, .prefetch = prefetch};
}

TEST(RandomBatches, AreTheSameForEveryPrefetch) {
  DataLoader straight(Augmented{}, options_of(0));
  const auto first = drawn_epoch(straight), second = drawn_epoch(straight);
  for (int repetition = 0; repetition < 25; ++repetition) {
    for (const int prefetch : kPrefetches) {
      manual_seed(static_cast<std::uint64_t>(repetition));  // must not affect the batches
      DataLoader loader(Augmented{}, options_of(prefetch));
      EXPECT_EQ(drawn_epoch(loader), first) << prefetch;
      EXPECT_EQ(drawn_epoch(loader), second) << prefetch;
    }
  }
}

TEST(RandomBatches, AreTheSameWhereAnEpochResumes) {
  for (const int prefetch : kPrefetches) {
    DataLoader straight(Augmented{}, options_of(prefetch));
    drawn_epoch(straight);
    const auto second = drawn_epoch(straight), third = drawn_epoch(straight);
    for (std::int64_t batch = 0; batch <= straight.size(); ++batch) {
      DataLoader resumed(Augmented{}, options_of(prefetch));
      resumed.set_epoch(1, batch);
      EXPECT_EQ(drawn_epoch(resumed), std::vector(second.begin() + batch, second.end()));
      EXPECT_EQ(drawn_epoch(resumed), third);
    }
    BatchStream stream{DataLoader(Augmented{}, options_of(prefetch))};
    stream.seek(straight.size() + 2);
    EXPECT_EQ(values_of(stream.next()), second[2]);
  }
}

TEST(RandomBatches, DoNotChangeTheProgramsGenerator) {
  for (const int prefetch : kPrefetches) {
    manual_seed(5);
    const Values expected = randn({3}).to_vector<double>();
    manual_seed(5);
    DataLoader loader(Augmented{}, options_of(prefetch));
    for (const Batch& batch : loader) EXPECT_TRUE(batch.first.defined());
    EXPECT_EQ(default_generator().get_state().stream, 0U);
    EXPECT_EQ(randn({3}).to_vector<double>(), expected);
  }
}

/// x is the generator's state at the start of the batch. Reseeds the generator, or throws, on
/// request.
struct States {
  bool reseed = false;
  bool fail = false;

  std::int64_t size() const { return 40; }
  Batch get_batch(std::span<const std::int64_t>) const {
    const RandomKey key = default_generator().get_state();
    if (reseed) manual_seed(3);
    if (fail) throw std::runtime_error("broken batch");
    return {tensor({static_cast<std::int64_t>(key.seed), static_cast<std::int64_t>(key.stream)}),
            tensor(0)};
  }
};

TEST(RandomBatches, DrawFromStreamsOfTheirOwn) {
  std::set<std::int64_t> seeds;
  for (const std::uint64_t seed : {0U, 1U}) {
    DataLoader loader(States{}, {.batch_size = 2, .seed = seed});
    for (int epoch = 0; epoch < 10; ++epoch) {
      for (const auto& [x, y] : loader) {
        seeds.insert(x[0].item<std::int64_t>());
        // Bit 62 alone: other streams than random tensors (which count from 0) and orders (bit 63).
        EXPECT_EQ(x[1].item<std::int64_t>(), std::int64_t{1} << 62);
      }
    }
  }
  EXPECT_EQ(seeds.size(), 2U * 10 * 20);
}

TEST(RandomBatches, RestoreTheProgramsGenerator) {
  for (const int prefetch : kPrefetches) {
    for (const bool fail : {false, true}) {
      manual_seed(11);
      DataLoader loader(States{.reseed = true, .fail = fail}, {.prefetch = prefetch});
      if (fail) {
        EXPECT_THROW(loader.begin(), std::runtime_error);
      } else {
        for (const auto& [x, y] : loader) EXPECT_NE(x[0].item<std::int64_t>(), 3);
      }
      EXPECT_EQ(default_generator().initial_seed(), 11U);
    }
  }
}

/// y contains the modes in which the batch was made.
struct Observed {
  std::int64_t size() const { return 5; }
  Batch get_batch(std::span<const std::int64_t>) const {
    const bool autocast =
        amp::is_autocast_enabled(kCPU) && amp::get_autocast_dtype(kCPU) == kBFloat16;
    const Tensor x = ones({2, 2}, {.requires_grad = true}).mm(ones({2, 2}));
    EXPECT_EQ(x.dtype(), autocast ? kBFloat16 : kFloat);
    EXPECT_EQ(x.requires_grad(), GradMode::is_enabled());
    return {x, tensor({GradMode::is_enabled(), InferenceMode::is_enabled(), autocast})};
  }
};

void expect_modes(DataLoader::Iterator batch, const std::vector<int>& expected) {
  int batches = 0;
  for (; batch != std::default_sentinel; ++batch, ++batches) {
    EXPECT_EQ((*batch).second.to_vector<int>(), expected);
  }
  EXPECT_EQ(batches, 5);
}

TEST(BatchModes, AreTheModesAtTheStartOfTheEpoch) {
  for (const int prefetch : kPrefetches) {
    DataLoader loader(Observed{}, {.prefetch = prefetch});
    expect_modes(loader.begin(), {1, 0, 0});
    {
      const NoGradGuard no_grad;
      auto started = loader.begin();
      const EnableGradGuard enable_grad;
      expect_modes(started, {0, 0, 0});
      EXPECT_TRUE(GradMode::is_enabled());
    }
    {
      const InferenceMode inference;
      expect_modes(loader.begin(), {0, 1, 0});
    }
    auto region = std::make_unique<amp::Autocast>(kCPU, kBFloat16);
    auto started = loader.begin();
    region.reset();
    expect_modes(started, {1, 0, 1});
  }
}

}  // namespace
}  // namespace halfgrad::data
