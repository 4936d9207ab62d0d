#include <halfgrad/files/replace_file.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <halfgrad/tests/folder.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad::tests {
namespace {

namespace fs = std::filesystem;
using files::replace_file;

std::ptrdiff_t entries(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

TEST(ReplaceFile, LeavesOnlyTheNewFile) {
  const Folder folder;
  for (const char* text : {"first, which is longer", "second"}) {
    replace_file(folder / "file", bytes(text));
    EXPECT_EQ(contents(folder / "file"), bytes(text));
    EXPECT_EQ(entries(folder / ""), 1);
  }
}

TEST(ReplaceFile, ReplacesTheTargetOfLinks) {
  const Folder folder;
  fs::create_directory(folder / "inner");
  fs::create_symlink("inner/link", folder / "relative");
  fs::create_symlink(folder / "inner/file", folder / "inner/link");
  for (const char* text : {"a link to a missing file", "a link to a file"}) {
    replace_file(folder / "relative", bytes(text));
    EXPECT_EQ(contents(folder / "inner/file"), bytes(text));
    EXPECT_TRUE(fs::is_symlink(folder / "relative"));
    EXPECT_TRUE(fs::is_symlink(folder / "inner/link"));
  }
}

TEST(ReplaceFile, RefusesACycleOfLinks) {
  const Folder folder;
  fs::create_symlink("there", folder / "here");
  fs::create_symlink("here", folder / "there");
  EXPECT_EQ(message_of<files::WriteError>([&] { replace_file(folder / "here", bytes("x")); }),
            "replace_file: expected to write " + (folder / "here").string() +
                ", got: Too many levels of symbolic links");
  EXPECT_TRUE(fs::is_symlink(folder / "here"));
}

TEST(ReplaceFile, WritesToAPipe) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  replace_file("/dev/fd/" + std::to_string(ends[1]), bytes("through"));
  std::array<std::byte, 16> read{};
  ASSERT_EQ(::read(ends[0], read.data(), read.size()), 7);
  EXPECT_EQ(Bytes(read.begin(), read.begin() + 7), bytes("through"));
  for (const int end : ends) ::close(end);
}

TEST(ReplaceFile, ReportsTheErrorOfADevice) {
  if (!fs::is_character_file("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  EXPECT_EQ(message_of<std::runtime_error>([] { replace_file("/dev/full", bytes("x")); }),
            "replace_file: expected to write /dev/full, got: No space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST(ReplaceFile, LeavesNothingBehindWhenItFails) {
  const Folder folder;
  fs::create_directory(folder / "inner");
  EXPECT_EQ(
      message_of<std::runtime_error>([&] { replace_file(folder / "inner", bytes("x")); }),
      "replace_file: expected to write " + (folder / "inner").string() + ", got: Is a directory");
  EXPECT_THROW(replace_file(folder / "missing/file", bytes("x")), std::runtime_error);
  EXPECT_EQ(entries(folder / ""), 1);
}

TEST(ReplaceFile, KeepsTheOldFileIfTheNewOneIsTooLarge) {
  const Folder folder;
  replace_file(folder / "file", bytes("old"));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit five_bytes{5, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &five_bytes);
  const std::string message =
      message_of<std::runtime_error>([&] { replace_file(folder / "file", bytes("longer")); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(message.find("got: File too large"), std::string::npos) << message;
  EXPECT_EQ(contents(folder / "file"), bytes("old"));
  EXPECT_EQ(entries(folder / ""), 1);
}

// Two processes that save to one path must not write into each other's temporary file.
TEST(ReplaceFile, DoesNotTouchOtherTemporaryFiles) {
  const Folder folder;
  replace_file(folder / "file.tmp", bytes("other"));
  replace_file(folder / "file", bytes("own"));
  EXPECT_EQ(contents(folder / "file.tmp"), bytes("other"));
}

}  // namespace
}  // namespace halfgrad::tests
