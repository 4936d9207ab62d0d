#include <gtest/gtest.h>

#include <string>

#include <halfgrad/emulator/checks/finding.h>

namespace halfgrad::emulator {
namespace {

Finding race_of_copies(int stream, int other, const std::string& made_by) {
  Finding finding;
  finding.kind = FindingKind::stream_race;
  finding.message = "cudaMemcpyAsync on stream " + std::to_string(stream) +
                    " writes memory that an unordered operation writes";
  finding.other = "cudaMemcpyAsync on stream " + std::to_string(other);
  finding.allocation = "byte 0 of 64 bytes, made by " + made_by;
  return finding;
}

TEST(FindingLog, RacesOfCopiesThatDifferInTheirStreamsCountAsOne) {
  FindingLog log;
  log.add(race_of_copies(7, 6, "cudaMalloc"));
  log.add(race_of_copies(9, 8, "cudaMalloc"));
  log.add(race_of_copies(9, 8, "cudaMallocAsync"));
  ASSERT_EQ(log.all().size(), 2u);
  EXPECT_EQ(log.all()[0].count, 2u);
}

TEST(FindingLog, OtherFindingsOfCallsKeepTheirNumbers) {
  FindingLog log;
  for (const char* message : {"8 bytes were never freed", "16 bytes were never freed"}) {
    Finding finding;
    finding.kind = FindingKind::leak;
    finding.message = message;
    log.add(finding);
  }
  EXPECT_EQ(log.all().size(), 2u);
}

}  // namespace
}  // namespace halfgrad::emulator
