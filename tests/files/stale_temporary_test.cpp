// Temporary files that a killed writer left are removed by the next save, and no others.
#include <chrono>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <halfgrad/files/descriptor.h>
#include <halfgrad/files/replace_file.h>
#include <halfgrad/files/temporary_file.h>
#include <halfgrad/tests/folder.h>

namespace halfgrad::tests {
namespace {

namespace fs = std::filesystem;

/// A file that was last written two minutes ago.
fs::path old_file(const fs::path& path) {
  files::replace_file(path, bytes("half a checkpoint"));
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::minutes(2));
  return path;
}

const std::string kLeft = "run.halfgrad-0123456789abcdef.tmp";

TEST(StaleTemporary, IsRemovedByTheNextSave) {
  const Folder folder;
  const auto left = old_file(folder / kLeft);
  files::replace_file(folder / "run", bytes("new"));
  EXPECT_FALSE(fs::exists(left));
}

TEST(StaleTemporary, OfAKilledWriterIsRemoved) {
  const Folder folder;
  const pid_t child = fork();
  if (child == 0) {
    const files::TemporaryFile file(folder / "run");
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_FALSE(fs::is_empty(folder / ""));
  const fs::path left = fs::directory_iterator(folder / "")->path();
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::minutes(2));
  files::replace_file(folder / "run", bytes("new"));
  EXPECT_FALSE(fs::exists(left));
}

TEST(StaleTemporary, OfALivingWriterIsKept) {
  const Folder folder;
  const auto path = old_file(folder / kLeft);
  const files::Descriptor writer(path, O_WRONLY);
  ASSERT_EQ(::flock(writer.number(), LOCK_EX), 0);
  files::replace_file(folder / "run", bytes("new"));
  EXPECT_TRUE(fs::exists(path)) << "the lock says that its writer lives";
}

TEST(StaleTemporary, YoungerThanAMinuteIsKept) {
  const Folder folder;
  files::replace_file(folder / kLeft, bytes("just written"));
  files::replace_file(folder / "run", bytes("new"));
  EXPECT_TRUE(fs::exists(folder / kLeft));
}

TEST(StaleTemporary, OtherFilesAreKept) {
  const Folder folder;
  for (const char* name :
       {"run.tmp", "run.1234.tmp", "run.halfgrad-0123456789abcdef", "run.halfgrad-0123.tmp",
        "run.halfgrad-0123456789abcdeg.tmp", "other.halfgrad-0123456789abcdef.tmp",
        "run.halfgrad-0123456789abcdef.tmp.bak", "old run.halfgrad-0123456789abcdef.tmp"}) {
    old_file(folder / name);
  }
  const auto count = std::distance(fs::directory_iterator(folder / ""), fs::directory_iterator());
  files::replace_file(folder / "run", bytes("new"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / ""), fs::directory_iterator()),
            count + 1);
}

// The link points outside: opening it would lock another's file.
TEST(StaleTemporary, ALinkIsKept) {
  const Folder folder;
  old_file(folder / "target");
  fs::create_symlink("target", folder / kLeft);
  files::replace_file(folder / "run", bytes("new"));
  EXPECT_TRUE(fs::is_symlink(folder / kLeft));
}

}  // namespace
}  // namespace halfgrad::tests
