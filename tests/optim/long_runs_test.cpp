#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/amp/grad_scaler.h>

#include "named_optimizer.h"
#include "parameters.h"
#include "stream.h"

/// The same 1,001 steps as PyTorch's: tests/expected/long_runs.py describes them.
namespace halfgrad::optim {
namespace {

using nlohmann::json;
using testing::expected_values;
using testing::named_optimizer;
using testing::numbers;
using testing::options_from;
using testing::Stream;
using Values = std::vector<double>;

constexpr std::int64_t kSteps = 1001;

Tensor loss_in_f64(const Tensor& p, const Tensor& g) { return sum(p * g) + sum(p * p) / 4; }
Tensor loss_in_f16(const Tensor& p, const Tensor& g) {
  return sum((p.to(DType::f16) * g.to(DType::f16)).to(DType::f32));
}

Values values_of(const std::vector<Tensor>& params) {
  Values all;
  for (const Tensor& param : params) {
    for (const double value : param.to_vector<double>()) all.push_back(value);
  }
  return all;
}

struct LongRun {
  std::vector<Values> rows;  // at the steps that the file keeps
  Values skipped;            // the numbers of the skipped steps
  double scale;
};

LongRun train(const json& file, const json& run, DType dtype, bool with_scaler) {
  Stream stream;
  std::vector<Tensor> params{stream.tensor({5}, dtype), stream.tensor({3, 4}, dtype)};
  for (Tensor& param : params) param.requires_grad_();
  ParamGroup group = options_from(run["options"]);
  group.params = params;
  const auto optimizer = named_optimizer(run["optimizer"], group);
  const json& options = file["scaler"];
  amp::GradScaler scaler({.init_scale = options["init_scale"],
                          .growth_factor = options["growth_factor"],
                          .backoff_factor = options["backoff_factor"],
                          .growth_interval = options["growth_interval"],
                          .enabled = with_scaler});
  const Values kept = numbers(file["steps"]);
  LongRun result;
  for (std::int64_t step = 1; step <= kSteps; ++step) {
    const double factor = step % 97 == 0 ? 16 : 1;
    const std::vector<Tensor> gradients{stream.tensor({5}, dtype, factor),
                                        stream.tensor({3, 4}, dtype, factor)};
    const auto loss = with_scaler ? loss_in_f16 : loss_in_f64;
    optimizer->zero_grad();
    scaler.scale(loss(params[0], gradients[0]) + loss(params[1], gradients[1])).backward();
    if (scaler.step(*optimizer).skipped()) result.skipped.push_back(static_cast<double>(step));
    scaler.update();
    if (std::count(kept.begin(), kept.end(), step) > 0) result.rows.push_back(values_of(params));
  }
  result.scale = scaler.get_scale();
  return result;
}

void expect_rows(const std::vector<Values>& rows, const json& expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(rows.size(), expected.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Values row = numbers(expected[i]);
    ASSERT_EQ(rows[i].size(), row.size());
    for (std::size_t k = 0; k < row.size(); ++k) {
      EXPECT_NEAR(rows[i][k], row[k], tolerance * std::max(1.0, std::abs(row[k])))
          << what << ", row " << i << ", element " << k;
    }
  }
}

TEST(LongRuns, EndWhereThoseOfPyTorchEndInFloat64) {
  const json file = expected_values("long_runs.json");
  for (const json& run : file["runs"]) {
    const LongRun result = train(file, run, DType::f64, false);
    expect_rows(result.rows, run["f64"], 128 * roundoff(DType::f64), run["optimizer"]);
  }
}

// Parameters are float32, gradients are computed in float16.
TEST(LongRuns, SkipTheStepsThatPyTorchSkips) {
  const json file = expected_values("long_runs.json");
  for (const json& run : file["runs"]) {
    const LongRun result = train(file, run, DType::f32, true);
    EXPECT_EQ(result.skipped, numbers(run["skipped"])) << run["optimizer"];
    EXPECT_EQ(result.scale, run["scale"].get<double>()) << run["optimizer"];
    expect_rows(result.rows, run["f32"], 128 * roundoff(DType::f32), run["optimizer"]);
  }
}

}  // namespace
}  // namespace halfgrad::optim
