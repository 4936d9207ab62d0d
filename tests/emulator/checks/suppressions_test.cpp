#include <halfgrad/emulator/checks/suppressions.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace halfgrad::emulator {
namespace {

/// A file of suppressions that is removed at the end.
class SuppressionsFile {
 public:
  explicit SuppressionsFile(const std::string& text)
      : path_(testing::TempDir() + "suppressions_" + std::to_string(++count_)) {
    std::ofstream(path_) << text;
  }
  ~SuppressionsFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  static inline int count_ = 0;
  std::string path_;
};

Finding race_at(unsigned line) {
  Finding finding;
  finding.kind = FindingKind::race;
  finding.message = "a store is not ordered with a load";
  finding.source_file = "scan.cu";
  finding.source_line = line;
  finding.kernel = "scan(int*)";
  return finding;
}

Severity after(const std::string& text, Finding finding) {
  const SuppressionsFile file(text);
  Suppressions::read(file.path()).apply(finding);
  return finding.severity;
}

TEST(Suppressions, ALineThatFitsMakesANote) {
  EXPECT_EQ(after("# known\n\nrace   scan.cu:12\n", race_at(12)), Severity::note);
  EXPECT_EQ(after("* in kernel scan(int*)\r\n", race_at(3)), Severity::note);
}

TEST(Suppressions, OtherFindingsStayErrors) {
  EXPECT_EQ(after("race scan.cu:12\n", race_at(13)), Severity::error);
  EXPECT_EQ(after("uninitialised scan.cu:12\n", race_at(12)), Severity::error);
  EXPECT_EQ(after("# race scan.cu:12\n", race_at(12)), Severity::error);
}

TEST(Suppressions, AWrongLineIsNamed) {
  for (const char* const text : {"rase scan.cu\n", "race\n"}) {
    const SuppressionsFile file(text);
    try {
      Suppressions::read(file.path());
      ADD_FAILURE() << text;
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find(":1"), std::string::npos);
    }
  }
  EXPECT_THROW(Suppressions::read("/no/such/file"), std::runtime_error);
}

}  // namespace
}  // namespace halfgrad::emulator
