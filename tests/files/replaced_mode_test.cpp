// The mode of a replaced file, and names and places where a file is hard to write.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <halfgrad/files/replace_file.h>
#include <halfgrad/tests/folder.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad::tests {
namespace {

using files::replace_file;

unsigned mode(const std::filesystem::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777u;
}

/// Sets the umask, and restores it at the end.
class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  ~Umask() { ::umask(before_); }
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;

 private:
  mode_t before_;
};

TEST(ReplacedMode, ANewFileRespectsTheUmask) {
  const Folder folder;
  for (const mode_t mask : {0022u, 0077u}) {
    const Umask umask(mask);
    const auto path = folder / std::to_string(mask);
    replace_file(path, bytes("new"));
    EXPECT_EQ(mode(path), 0666u & ~mask);
  }
}

TEST(ReplacedMode, AReplacedFileKeepsItsMode) {
  const Folder folder;
  const Umask umask(0022);
  for (const mode_t kept : {0600u, 0640u, 0666u, 0444u}) {
    const auto path = folder / std::to_string(kept);
    replace_file(path, bytes("old"));
    ASSERT_EQ(::chmod(path.c_str(), kept), 0);
    replace_file(path, bytes("new"));
    EXPECT_EQ(mode(path), kept);
    EXPECT_EQ(contents(path), bytes("new"));
  }
}

TEST(ReplacedMode, AReplacedFileKeepsItsOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  const Folder folder;
  replace_file(folder / "file", bytes("old"));
  ASSERT_EQ(::chown((folder / "file").c_str(), 12345, 12345), 0);
  ASSERT_EQ(::chmod((folder / "file").c_str(), 0640), 0);
  replace_file(folder / "file", bytes("new"));
  struct stat status {};
  ASSERT_EQ(::stat((folder / "file").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 12345u);
  EXPECT_EQ(status.st_gid, 12345u);
  EXPECT_EQ(status.st_mode & 07777u, 0640u);
}

TEST(ReplacedMode, AFileWithTheLongestNameIsReplaced) {
  const Folder folder;
  const auto path = folder / std::string(255, 'n');
  for (const char* text : {"first", "second"}) {
    replace_file(path, bytes(text));
    EXPECT_EQ(contents(path), bytes(text));
  }
  EXPECT_NE(message_of([&] {
              replace_file(folder / std::string(256, 'n'), bytes("x"));
            }).find("File name too long"),
            std::string::npos);
}

TEST(ReplacedMode, AnEmptyFileIsWritten) {
  const Folder folder;
  replace_file(folder / "empty", Bytes());
  EXPECT_EQ(std::filesystem::file_size(folder / "empty"), 0u);
}

TEST(ReplacedMode, AReadOnlyFolderIsNamed) {
  const Folder folder;
  const auto inner = folder / "inner";
  std::filesystem::create_directory(inner);
  ASSERT_EQ(::chmod(inner.c_str(), 0555), 0);
  const uid_t user = ::geteuid();
  if (user == 0) {
    ASSERT_EQ(::seteuid(12345), 0);  // root may write everywhere
  }
  const std::string message = message_of([&] { replace_file(inner / "file", bytes("x")); });
  ASSERT_EQ(::seteuid(user), 0);
  EXPECT_EQ(message, "replace_file: expected to write " + (inner / "file").string() +
                         ", got: Permission denied");
  ::chmod(inner.c_str(), 0755);
}

// A user may replace the files of others in a folder of his own, but not give his files away.
TEST(ReplacedMode, AFileOfAnotherUserIsReplaced) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may act as several users";
  const Folder folder;
  ASSERT_EQ(::chmod((folder / "").c_str(), 0777), 0);
  replace_file(folder / "file", bytes("old"));
  ASSERT_EQ(::chmod((folder / "file").c_str(), 0644), 0);
  ASSERT_EQ(::seteuid(12345), 0);
  const std::string message = message_of([&] { replace_file(folder / "file", bytes("new")); });
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_EQ(message, "no error");
  EXPECT_EQ(contents(folder / "file"), bytes("new"));
  EXPECT_EQ(mode(folder / "file"), 0644u);
}

}  // namespace
}  // namespace halfgrad::tests
