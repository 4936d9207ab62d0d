#include <string>

#include <gtest/gtest.h>

#include <halfgrad/tests/kernels/emulated.h>

/// The kernels of the labs, run by the GPU emulator: their results, its findings, its counters.
namespace halfgrad::tests {
namespace {

TEST(TransposedCopy, IsRightForEveryShape) {
  for (const char* const shape : {"1 1", "32 32", "33 5", "64 96", "70 100"}) {
    const Emulated run(std::string("transposed_copy ") + shape);
    EXPECT_EQ(run.output(), "right") << shape;
    EXPECT_EQ(run.finding(), "") << shape;
  }
}

TEST(TransposedCopy, MovesEachElementOnce) {
  const Emulated run("transposed_copy 64 96");
  EXPECT_EQ(run.counter("bytes_loaded"), 64 * 96 * 4);
  EXPECT_EQ(run.counter("bytes_stored"), 64 * 96 * 4);
}

/// The 32 lanes of a warp touch 4 sectors of 32 bytes, the fewest that hold 32 floats.
TEST(TransposedCopy, IsCoalesced) {
  const Emulated run("transposed_copy 64 96");
  EXPECT_EQ(run.counter("sectors"), run.counter("sectors_needed"));
}

TEST(TransposedCopy, HasNoBankConflict) {
  EXPECT_EQ(Emulated("transposed_copy 64 96").counter("bank_conflicts"), 0);
}

TEST(FoundInf, IsOneWhereverTheInfIs) {
  for (const char* const place : {"1 0", "128 127", "1024 0", "1024 700", "4096 4095", "5000 17"}) {
    EXPECT_EQ(Emulated(std::string("found_inf ") + place).output(), "right") << place;
  }
}

TEST(LabKernels, RefuseWrongArguments) {
  for (const char* const command :
       {"found_inf abc 1", "found_inf 0 -1", "found_inf -5 1", "found_inf 4 4", "found_inf 4 -2",
        "transposed_copy -3 5", "transposed_copy 3 5x", "transposed_copy 100000 100000"}) {
    const std::string output = Emulated(command).output();
    EXPECT_NE(output.find(" to be an integer in ["), std::string::npos)
        << command << ": " << output;
  }
}

TEST(FoundInf, IsZeroForFiniteGradients) {
  for (const char* const place : {"1 -1", "1024 -1", "5000 -1"}) {
    EXPECT_EQ(Emulated(std::string("found_inf ") + place).output(), "right") << place;
  }
}

TEST(FoundInf, HasNoRace) {
  for (const char* const place : {"1024 -1", "1024 5", "5000 4999"}) {
    EXPECT_EQ(Emulated(std::string("found_inf ") + place).finding(), "") << place;
  }
}

TEST(FoundInf, ReadsEachGradientOnceInFullSectors) {
  const Emulated run("found_inf 4096 -1");
  EXPECT_EQ(run.counter("bytes_loaded"), 4096 * 4);
  EXPECT_EQ(run.counter("sectors"), run.counter("sectors_needed"));
}

}  // namespace
}  // namespace halfgrad::tests
