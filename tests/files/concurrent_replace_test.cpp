// Several threads and several processes save to one path, and others read it meanwhile.
#include <algorithm>
#include <atomic>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <halfgrad/files/replace_file.h>
#include <halfgrad/tests/folder.h>

namespace halfgrad::tests {
namespace {

constexpr std::size_t kSize = 1 << 16;

Bytes filled(int value) { return Bytes(kSize, static_cast<std::byte>(value)); }

bool is_whole(const Bytes& file) {
  return file.size() == kSize && std::ranges::count(file, file.front()) == std::ssize(file);
}

/// Saves `count` times; returns how many saves failed.
int failed_saves(const std::filesystem::path& path, int value, int count) {
  int failed = 0;
  for (int i = 0; i < count; ++i) {
    try {
      files::replace_file(path, filled(value));
    } catch (const std::exception&) {
      ++failed;
    }
  }
  return failed;
}

/// Reads until `is_done`; returns how many reads found no whole file.
template <class Done>
int bad_reads(const std::filesystem::path& path, const Done& is_done) {
  int bad = 0;
  do {
    bad += is_whole(contents(path)) ? 0 : 1;
  } while (!is_done());
  return bad;
}

TEST(ConcurrentReplace, ThreeThreadsNeverFailAndReadersSeeWholeFiles) {
  const Folder folder;
  const auto path = folder / "run";
  files::replace_file(path, filled(0));
  std::atomic<int> failed = 0, running = 3;
  std::vector<std::thread> writers;
  for (int value = 1; value <= 3; ++value) {
    writers.emplace_back([&, value] {
      failed += failed_saves(path, value, 50);
      --running;
    });
  }
  const int bad = bad_reads(path, [&] { return running == 0; });
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(bad, 0);
}

TEST(ConcurrentReplace, TwoProcessesNeverFailAndReadersSeeWholeFiles) {
  const Folder folder;
  const auto path = folder / "run";
  files::replace_file(path, filled(0));
  std::vector<pid_t> writers;
  for (int value = 1; value <= 2; ++value) {
    writers.push_back(fork());
    ASSERT_GE(writers.back(), 0);
    if (writers.back() == 0) _exit(failed_saves(path, value, 50));
  }
  int failed = 0;
  const auto is_done = [&] {
    std::erase_if(writers, [&](pid_t writer) {
      int status = 0;
      if (waitpid(writer, &status, WNOHANG) == 0) return false;
      failed += WIFEXITED(status) ? WEXITSTATUS(status) : 1;
      return true;
    });
    return writers.empty();
  };
  EXPECT_EQ(bad_reads(path, is_done), 0);
  EXPECT_EQ(failed, 0);
}

// Containers that share a volume have the same process ids: the child imitates its parent's.
TEST(ConcurrentReplace, AnotherWritersTemporaryFileIsNotTouched) {
  const Folder folder;
  const auto other = folder / ("run." + std::to_string(::getpid()) + ".tmp");
  files::replace_file(other, bytes("being written by a process of the same id"));
  files::replace_file(folder / "run", bytes("own"));
  EXPECT_EQ(contents(other), bytes("being written by a process of the same id"));
}

}  // namespace
}  // namespace halfgrad::tests
