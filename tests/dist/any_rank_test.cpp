#include <halfgrad/dist/any_rank.h>

#include <gtest/gtest.h>

#include "ranks.h"

namespace halfgrad::dist {
namespace {

TEST(AnyRank, AgreesOnEveryRank) {
  for (const int size : {1, 2, 3, 4}) {
    for (int who = 0; who < 1 << size; ++who) {
      on_ranks(size, [&](Communicator& communicator) {
        const bool here = (who >> communicator.rank() & 1) != 0;
        EXPECT_EQ(any_rank(communicator, here), who != 0);
      });
    }
  }
}

}  // namespace
}  // namespace halfgrad::dist
