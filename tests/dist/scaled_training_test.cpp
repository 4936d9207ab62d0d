#include <gtest/gtest.h>

#include "ranks.h"
#include "training_checks.h"

namespace halfgrad::dist {
namespace {

class ScaledTrainings : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, ScaledTrainings, testing::Values(1, 2, 3, 4));

TEST_P(ScaledTrainings, SkipOnAllRanksAndHaveTheScaleOfOneRank) {
  on_ranks(GetParam(), check_scales);
}

}  // namespace
}  // namespace halfgrad::dist
