#include <halfgrad/data/train_test_split.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad::data {
namespace {

using Ids = std::vector<std::int64_t>;

Ids sorted_union(const SplitIndices& split) {
  Ids all = split.train;
  all.insert(all.end(), split.test.begin(), split.test.end());
  std::ranges::sort(all);
  return all;
}

Ids first(std::int64_t n) { return arange(n).to_vector<std::int64_t>(); }

std::map<std::int64_t, int> counts(const Ids& indices, const Ids& classes) {
  std::map<std::int64_t, int> result;
  for (const std::int64_t i : indices) ++result[classes[static_cast<std::size_t>(i)]];
  return result;
}

TEST(TrainTestSplit, HasEverySampleOnceAndDependsOnTheSeedAlone) {
  const SplitIndices split = split_indices(150, {.test_size = 0.2, .seed = 3});
  EXPECT_EQ(split.test.size(), 30U);
  EXPECT_EQ(sorted_union(split), first(150));
  EXPECT_FALSE(std::ranges::is_sorted(split.test));
  EXPECT_EQ(split.test, split_indices(150, {.test_size = 0.2, .seed = 3}).test);
  EXPECT_NE(split.test, split_indices(150, {.test_size = 0.2, .seed = 4}).test);
}

TEST(TrainTestSplit, StratifiesByLargestRemainders) {
  Ids classes;  // 10 of class 5, 7 of class -1, 3 of class 8, in turn
  for (int i = 0; i < 20; ++i) classes.push_back(i < 6 ? (i % 2 == 0 ? 5 : 8) : i < 13 ? 5 : -1);
  const SplitIndices split = split_indices(classes, {.test_size = 0.25});
  EXPECT_EQ(sorted_union(split), first(20));
  // 10 x 5 / 20 = 2.5, 7 x 5 / 20 = 1.75, 3 x 5 / 20 = 0.75: two remainders of 0.75 get one more.
  EXPECT_EQ(counts(split.test, classes), (std::map<std::int64_t, int>{{-1, 2}, {5, 2}, {8, 1}}));
}

TEST(TrainTestSplit, KeepsRowsOfXAndYTogether) {
  const Tensor y = arange(12) % 3;
  const Tensor x = stack({arange(12), y}, 1).to(kFloat32);
  for (const bool stratify : {false, true}) {
    const auto [x_train, x_test, y_train, y_test] =
        train_test_split(x, y, {.test_size = 0.5, .stratify = stratify});
    EXPECT_EQ(x_train.sizes(), (Shape{6, 2}));
    EXPECT_EQ(x_test.sizes(), (Shape{6, 2}));
    EXPECT_TRUE(equal(x_train.select(1, 1).to(kInt64), y_train));
    EXPECT_TRUE(equal(x_test.select(1, 1).to(kInt64), y_test));
    if (stratify) {
      EXPECT_EQ(one_hot(y_test, 3).sum(0).to_vector<int>(), (std::vector<int>{2, 2, 2}));
    }
  }
}

TEST(TrainTestSplit, RefusesEmptyPartsAndWrongShapes) {
  const auto refused = [](std::int64_t size, double test_size) {
    return message_of<std::invalid_argument>(
        [&] { split_indices(size, {.test_size = test_size}); });
  };
  EXPECT_EQ(refused(3, 0.1),
            "train_test_split: expected at least one sample in each part, got 0 of 3 in the test");
  EXPECT_EQ(refused(3, 0.9),
            "train_test_split: expected at least one sample in each part, got 3 of 3 in the test");
  EXPECT_EQ(refused(10, 1), "train_test_split: expected 0 < test_size < 1, got 1");
  EXPECT_EQ(refused(10, 0), "train_test_split: expected 0 < test_size < 1, got 0");
  EXPECT_EQ(message_of([] {
              train_test_split(zeros({4, 2}), zeros({3}));
            }),
            "train_test_split: expected one y for each x, got [4, 2] and [3]");
  EXPECT_EQ(message_of([] {
              train_test_split(zeros({4, 2}), zeros({4}), {.stratify = true});
            }),
            "train_test_split: expected y [n] of whole numbers to stratify by, got [4] of float32");
  EXPECT_THROW(split_indices(8, {.stratify = true}), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::data
