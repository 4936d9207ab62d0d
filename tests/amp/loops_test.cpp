#include <cmath>
#include <fstream>
#include <ostream>
#include <string>

#include <gtest/gtest.h>
#include <halfgrad/core/dtype.h>
#include <halfgrad/examples/amp_loops/loops.h>
#include <nlohmann/json.hpp>

void PrintTo(const Loop& loop, std::ostream* out) { *out << loop.name; }

/// The loops of examples/amp_loops against those of PyTorch on the CPU: the same losses, and after
/// every step the same state of the scaler. Their ops are on PyTorch's lists for both devices, since
/// ours differ on purpose: "One policy on every device. Our autocast uses the CUDA op lists on the
/// CPU too, and its default fast dtype is float16 on both device types."
namespace halfgrad {
namespace {

using nlohmann::json;

json expected_rows(std::string_view loop) {
  std::ifstream stream(HALFGRAD_SOURCE_DIR "/tests/expected/loops.json");
  const json file = json::parse(stream);
  for (const json& rows : file["loops"]) {
    if (rows["loop"] == loop) return rows;
  }
  throw std::out_of_range("loops.json: expected " + std::string(loop) + ", got none");
}

/// `expected` is a number, or "nan" or "inf", which loops meet in different orders. Up to each step
/// the weights have gone through as many roundings to float16 as there were steps.
void expect_near(double got, const json& expected, std::size_t step, const char* what) {
  SCOPED_TRACE(what + (" of step " + std::to_string(step)));
  if (expected.is_string()) {
    EXPECT_FALSE(std::isfinite(got)) << got;
    return;
  }
  const double value = expected;
  const double roundoffs = 4.0 * static_cast<double>(step + 1);
  EXPECT_NEAR(got, value, roundoffs * roundoff(kHalf) * std::fmax(1, std::abs(value)));
}

class AmpLoops : public testing::TestWithParam<Loop> {};

TEST_P(AmpLoops, AreThoseOfPyTorch) {
  const Loop& loop = GetParam();
  const json rows = expected_rows(loop.name);
  const Trace trace = loop.run(static_cast<std::int64_t>(rows["loss"].size()));
  ASSERT_EQ(trace.size(), rows["loss"].size());
  for (std::size_t i = 0; i < trace.size(); ++i) {
    EXPECT_EQ(trace[i].scale, rows["scale"][i]) << "step " << i;
    EXPECT_EQ(trace[i].skipped, rows["skipped"][i]) << "step " << i;
    expect_near(trace[i].loss, rows["loss"][i], i, "loss");
    if (rows.contains("seen")) expect_near(trace[i].seen, rows["seen"][i], i, loop.seen.data());
  }
}

INSTANTIATE_TEST_SUITE_P(All, AmpLoops, testing::ValuesIn(kLoops),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace halfgrad
