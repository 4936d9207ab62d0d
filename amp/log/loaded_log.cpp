#include <halfgrad/amp/log/loaded_log.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <halfgrad/amp/log/log_fields.h>
#include <halfgrad/amp/log/step_log.h>
#include <halfgrad/amp/scale_update.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::detail {
namespace {

using namespace log_fields;

struct IntegerField {
  std::int64_t column;
  const char* name;
  double least, greatest;
};
constexpr double kMaxCount = 0x1p53;  // the doubles up to here count exactly
constexpr double kMaxInt32 = std::numeric_limits<std::int32_t>::max();
constexpr IntegerField kIntegers[] = {
    {step, "step", 0, kMaxCount},
    {optimizer, "optimizer", -1, kMaxCount},
    {found_inf, "found_inf", 0, 1},
    {stepped, "stepped", 0, 1},
    {event, "event", 0, static_cast<double>(amp::ScaleEvent::set)},
    {good_steps, "good_steps", -kMaxInt32 - 1, kMaxInt32},
    {bad_steps, "bad_steps", 0, kMaxInt32},
    {nonfinite, "nonfinite", 0, kMaxCount},
    {first_bad_parameter, "first_bad_parameter", -1, kMaxCount},
    {losses, "losses", 0, kMaxCount},
    {nonfinite_parameters, "nonfinite_parameters", 0, kMaxCount},
};
constexpr IntegerField kCounts[] = {
    {written, "written", 0, kMaxCount},
    {iterations, "iterations", 0, kMaxCount},
    {loss_count, "loss_count", 0, kMaxCount},
};

void check_row(const double* row, const auto& fields) {
  for (const IntegerField& field : fields) {
    const double value = row[field.column];
    if (value >= field.least && value <= field.greatest && value == std::trunc(value)) continue;
    fail("load_records", "expected {} of the log to be an integer in [{}, {}], got {}", field.name,
         field.least, field.greatest, value);
  }
}

// A copy on the host, in the present format.
Array to_present_format(const Array& saved) {
  const bool is_matrix = saved.dtype() == kDouble && saved.ndim() == 2 && saved.size(0) > 1;
  const std::int64_t columns = is_matrix ? saved.size(1) : 0;
  if (columns != kFields && columns != kFieldsWithoutLosses) {
    fail("load_records", "expected a \"log\" of float64 [history + 1, {}], got {} {}",
         static_cast<int>(kFields), saved.dtype(), saved.sizes());
  }
  const Array rows = Array::full(StepLog::sizes(saved.size(0) - 1), 0, kDouble);
  rows.slice(1, 0, columns).copy_(saved.to(Device()));
  return rows;
}

}  // namespace

Array loaded_log(const Array& saved, std::int64_t capacity) {
  const Array rows = to_present_format(saved);
  const std::int64_t old_capacity = rows.size(0) - 1;
  auto* const counts = rows.data_as<double>() + old_capacity * kFields;
  check_row(counts, kCounts);
  const auto total = static_cast<std::int64_t>(counts[written]);
  const std::int64_t held = std::min(total, old_capacity);
  for (std::int64_t i = 0; i < held; ++i)
    check_row(rows.data_as<double>() + i * kFields, kIntegers);
  if (capacity == old_capacity) return rows;
  const Array cut = Array::full(StepLog::sizes(capacity), 0, kDouble);
  const std::int64_t kept = std::min(held, capacity);
  for (std::int64_t i = 0; i < kept; ++i) {
    cut.select(0, i).copy_(rows.select(0, (total - kept + i) % old_capacity));
  }
  counts[written] = static_cast<double>(kept);
  cut.select(0, capacity).copy_(rows.select(0, old_capacity));
  return cut;
}

void check_counters(const Array& saved) {
  const Shape sizes{ScaleState::kCounters};
  if (saved.dtype() != kInt64 || saved.sizes() != sizes) {
    fail("load_records", "expected \"counters\" of int64 {}, got {} {}", sizes, saved.dtype(),
         saved.sizes());
  }
  const Array host = saved.to(Device()).contiguous();
  const auto* const counts = host.data_as<std::int64_t>();
  const std::int64_t least = *std::min_element(counts, counts + ScaleState::kCounters);
  if (least < 0) fail("load_records", "expected counters >= 0, got {}", least);
}

}  // namespace halfgrad::detail
