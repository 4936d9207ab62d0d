// Files that read_text() must not wait for, and files whose size the system does not know.
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <halfgrad/data/idx.h>
#include <halfgrad/data/text.h>
#include <halfgrad/files/replace_file.h>
#include <halfgrad/io/npy.h>
#include <halfgrad/tests/folder.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad::tests {
namespace {

/// Expects the message of `read` within 5 seconds.
template <class F>
void expect_message(const std::string& expected, const F& read) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(5);
    _exit(message_of<std::runtime_error>(read) == expected ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_FALSE(WIFSIGNALED(status)) << "the reader waited";
  EXPECT_EQ(status, 0) << "expected " << expected << "\ngot " << message_of(read);
}

TEST(TextFiles, APipeWithoutAWriterIsRefused) {
  const Folder folder;
  const auto path = folder / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::string rest = "expected a file, got a pipe: " + path.string();
  expect_message("read_text: " + rest, [&] { data::read_text(path); });
  expect_message("read_idx: " + rest, [&] { data::read_idx(path); });
  expect_message("load_npy: " + rest, [&] { io::load_npy(path); });
}

TEST(TextFiles, ADeviceIsRefused) {
  expect_message("read_text: expected a file, got a device: /dev/zero",
                 [] { data::read_text("/dev/zero"); });
}

TEST(TextFiles, AFileOfUnknownSizeIsReadToItsEnd) {
  if (!std::filesystem::exists("/proc/self/status")) GTEST_SKIP() << "no /proc here";
  EXPECT_TRUE(data::read_text("/proc/self/status").starts_with("Name:"));
}

TEST(TextFiles, EveryByteOfALargeTextIsRead) {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += std::to_string(i) + '\n';
  files::replace_file(folder / "large", bytes(text));
  EXPECT_EQ(data::read_text(folder / "large"), text);
  files::replace_file(folder / "empty", Bytes());
  EXPECT_EQ(data::read_text(folder / "empty"), "");
}

}  // namespace
}  // namespace halfgrad::tests
