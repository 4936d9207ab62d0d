// A checkpoint survives kill -9 of the process that is replacing it, at any moment.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/io/checkpoint.h>

#include "../folder.h"

namespace halfgrad::io {
namespace {

constexpr std::int64_t kElements = 1 << 16;  // 256 KiB

Checkpoint numbered(std::int64_t number) {
  Checkpoint checkpoint;
  checkpoint.write("number", number);
  checkpoint.tensors["all"] = full({kElements}, static_cast<double>(number));
  return checkpoint;
}

std::int64_t removed_temporaries(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".tmp") found.push_back(entry.path());
  }
  for (const auto& path : found) std::filesystem::remove(path);
  return std::ssize(found);
}

TEST(Kill, OldOrNewCheckpointIsComplete200Times) {
  const tests::Folder folder;
  const auto path = folder / "run.safetensors";
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 5; ++i) save_checkpoint(path, numbered(0));
  const auto five_saves = std::chrono::steady_clock::now() - start;
  std::mt19937 random(1);
  std::uniform_int_distribution<std::int64_t> nanoseconds(
      0, std::chrono::duration_cast<std::chrono::nanoseconds>(five_saves).count());
  std::int64_t last = 0, interrupted = 0;
  for (int kill = 0; kill < 200; ++kill) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (std::int64_t number = last + 1;; ++number) save_checkpoint(path, numbered(number));
    }
    std::this_thread::sleep_for(std::chrono::nanoseconds(nanoseconds(random)));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";

    interrupted += removed_temporaries(path.parent_path());
    const Checkpoint found = load_checkpoint(path);
    const std::int64_t number = found.integer("number");
    EXPECT_GE(number, last);
    const Tensor all = found.tensor("all");
    const auto* const values = all.data_ptr<float>();
    EXPECT_EQ(std::count(values, values + kElements, static_cast<float>(number)), kElements);
    last = number;
  }
  EXPECT_GT(last, 0) << "no checkpoint was completed, so the test proves nothing";
  EXPECT_GT(interrupted, 20) << "hardly any save was interrupted, so the test proves nothing";
}

}  // namespace
}  // namespace halfgrad::io
