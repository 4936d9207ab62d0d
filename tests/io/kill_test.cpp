// A checkpoint survives kill -9 of the process that is replacing it, whenever it comes.
#include <csignal>
#include <random>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/io/checkpoint.h>

#include "../bytes.h"

namespace halfgrad::io {
namespace {

constexpr std::int64_t kElements = 1 << 18;  // 1 MiB

Checkpoint numbered(std::int64_t number) {
  Checkpoint checkpoint;
  checkpoint.write("number", number);
  checkpoint.tensors["all"] = full({kElements}, static_cast<double>(number));
  return checkpoint;
}

TEST(Kill, OldOrNewCheckpointIsThere200Times) {
  const tests::Folder folder;
  const auto path = folder / "run.safetensors";
  save_checkpoint(path, numbered(0));
  std::mt19937 random(1);
  std::uniform_int_distribution<int> microseconds(0, 4000);
  std::int64_t last = 0, interrupted = 0;
  for (int kill = 0; kill < 200; ++kill) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (std::int64_t number = last + 1;; ++number) save_checkpoint(path, numbered(number));
    }
    usleep(static_cast<useconds_t>(microseconds(random)));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";

    interrupted += std::filesystem::exists(path.string() + ".tmp") ? 1 : 0;
    const Checkpoint found = load_checkpoint(path);
    const std::int64_t number = found.integer("number");
    EXPECT_GE(number, last);
    const Tensor all = found.tensor("all");
    const auto* const values = all.data_ptr<float>();
    EXPECT_EQ(std::count(values, values + kElements, static_cast<float>(number)), kElements);
    last = number;
  }
  EXPECT_GT(last, 0) << "no checkpoint was ever finished: the test proves nothing";
  EXPECT_GT(interrupted, 20) << "hardly any was interrupted: the test proves nothing";
}

}  // namespace
}  // namespace halfgrad::io
