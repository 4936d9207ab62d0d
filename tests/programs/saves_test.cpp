#include <halfgrad/programs/saves.h>

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace programs {
namespace {

const auto succeed = [](const std::filesystem::path&) {};
const auto run_out_of_space = [](const std::filesystem::path&) {
  throw std::runtime_error("no space");
};

TEST(Saves, AFailureIsReportedAndTheNextSaveTriesAgain) {
  Saves saves("training", "run");
  testing::internal::CaptureStderr();
  saves.save(1, succeed);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  saves.save(2, run_out_of_space);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "training: warning: not saved after step 2: no space\n"
            "The training goes on and tries again; run keeps its old contents.\n");
  EXPECT_EQ(saves.saved_step(), 1);
  saves.save(3, succeed);
  EXPECT_EQ(saves.saved_step(), 3);
  testing::internal::CaptureStderr();
  EXPECT_EQ(saves.conclude(), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "training: 1 of 3 saves failed; run holds step 3\n");
}

TEST(Saves, TheStatusIs0WithoutAFailure) {
  Saves saves("training", "run");
  EXPECT_EQ(saves.conclude(), 0);
  saves.save(1, succeed);
  EXPECT_EQ(saves.conclude(), 0);
}

TEST(Saves, AFileThatWasNeverWrittenIsNamed) {
  Saves saves("training", "run");
  testing::internal::CaptureStderr();
  saves.save(1, run_out_of_space);
  EXPECT_EQ(saves.conclude(), 1);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(text.ends_with("training: 1 of 1 saves failed; run was not written\n")) << text;
  EXPECT_FALSE(saves.saved_step());
}

TEST(Saves, NothingIsSavedWithoutAFile) {
  Saves saves("training", "");
  saves.save(1, run_out_of_space);
  EXPECT_EQ(saves.conclude(), 0);
}

TEST(Saves, AMistakeOfTheProgramIsPassedOn) {
  Saves saves("training", "run");
  EXPECT_THROW(saves.save(1, [](const auto&) { throw std::logic_error("mistake"); }),
               std::logic_error);
}

}  // namespace
}  // namespace programs
