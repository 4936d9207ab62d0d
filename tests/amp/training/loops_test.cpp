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
/// every step the same state of the scaler. Their ops are on PyTorch's lists for both devices: this
/// library uses the CUDA lists and float16 on the CPU too, PyTorch does not.
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

/// `expected` is a number, or "nan" or "inf", of which either will do: the order of a sum decides.
void expect_near(double got, const json& expected, double tolerance) {
  if (expected.is_string()) {
    EXPECT_FALSE(std::isfinite(got)) << got;
  } else {
    const double value = expected;
    EXPECT_NEAR(got, value, tolerance * std::fmax(1, std::abs(value)));
  }
}

class AmpLoops : public ::testing::TestWithParam<Loop> {};

TEST_P(AmpLoops, EqualPyTorchs) {
  const Loop& loop = GetParam();
  const json rows = expected_rows(loop.name);
  const Trace trace = loop.run(static_cast<std::int64_t>(rows["loss"].size()));
  ASSERT_EQ(trace.size(), rows["loss"].size());
  for (std::size_t i = 0; i < trace.size(); ++i) {
    SCOPED_TRACE("step " + std::to_string(i));
    EXPECT_EQ(trace[i].scale, rows["scale"][i]);
    EXPECT_EQ(trace[i].skipped, rows["skipped"][i]);
    // In float16 rounding hides the order of most sums, but not of all. In float32 the sums of one
    // loss may differ by eight roundoffs, and each step adds two.
    const double tolerance = loop.name == "disabled"
                                 ? (8.0 + 2.0 * static_cast<double>(i)) * roundoff(kFloat)
                                 : roundoff(kHalf);
    expect_near(trace[i].loss, rows["loss"][i], tolerance);
    if (rows.contains("seen")) expect_near(trace[i].seen, rows["seen"][i], tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(All, AmpLoops, ::testing::ValuesIn(kLoops),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace halfgrad
