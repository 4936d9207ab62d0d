#include <halfgrad/amp/log/step_log.h>

#include <algorithm>
#include <optional>

#include <halfgrad/amp/log/log_fields.h>
#include <halfgrad/core/engines/parallel.h>
#include <halfgrad/core/engines/reduce.h>
#include <halfgrad/core/engines/sum_reduction.h>
#include <halfgrad/core/math/math.h>

namespace halfgrad::detail {
namespace {

using namespace log_fields;

struct CountNonFinite : SumReduction {
  template <class T>
  HG_HD T map(T x) const {
    return select(math::isfinite(x), T(0), T(1));
  }
};

struct SumOfSquares : SumReduction {
  template <class T>
  HG_HD T map(T x) const {
    return x * x;
  }
};

// Reduces all elements of `grad` into `target`, which may be on another device.
template <class F>
void reduce_to(const Array& target, const F& f, const Array& grad) {
  const unsigned all_dims = (1U << static_cast<unsigned>(grad.ndim())) - 1;
  const bool here = target.device() == grad.device();
  const Array result = here ? target : Array::empty({}, kDouble, grad.device());
  reduce(f, kDouble, result, grad, all_dims);
  if (!here) target.copy_(result);
}

// Writes a report's first half. Pointers are null if the StepEntry's array is undefined.
struct BeginRow {
  double* rows;
  std::int64_t capacity;
  std::int64_t index;  // the optimizer's, in the iteration
  bool was_stepped;
  const float* checked_inf;
  const double* bad_elements;
  const double* squares;
  const double* squares_at_step;
  std::int64_t parameters;
  const float* current_scale;
  const float* inv_scale;

  HG_HD void operator()(std::int64_t) const {
    const double* const counts = rows + capacity * kFields;
    double* const row =
        rows + (static_cast<std::int64_t>(counts[written]) + index) % capacity * kFields;
    double bad = 0, bad_parameters = 0, checked = 0, at_step = 0, first_bad = -1;
    for (std::int64_t i = 0; i < parameters; ++i) {
      bad_parameters += bad_elements[i] != 0;
      if (bad_elements[i] != 0 && first_bad < 0) first_bad = static_cast<double>(i);
      bad += bad_elements[i];
      checked += squares[i];
      if (squares_at_step != nullptr) at_step += squares_at_step[i];
    }
    const double norm = math::sqrt(checked) * *inv_scale;
    const bool compared = squares_at_step != nullptr && norm > 0 && math::isfinite(norm);
    row[step] = counts[iterations];
    row[optimizer] = checked_inf != nullptr ? static_cast<double>(index) : -1;
    row[scale] = *current_scale;
    row[found_inf] = checked_inf != nullptr && *checked_inf != 0;
    row[stepped] = was_stepped;
    row[nonfinite] = bad;
    row[first_bad_parameter] = first_bad;
    row[grad_norm] = norm;
    row[clip_factor] = compared ? math::sqrt(at_step) / norm : 1;
    row[loss] = counts[loss_sum];
    row[losses] = counts[loss_count];
    row[nonfinite_parameters] = bad_parameters;
  }
};

struct EndRows {
  double* rows;
  std::int64_t capacity;
  std::int64_t entries;
  const float* current_scale;
  const std::int32_t* last_event;
  const std::int32_t* growth_tracker;
  const std::int32_t* bad_in_a_row;

  HG_HD void operator()(std::int64_t) const {
    double* const counts = rows + capacity * kFields;
    for (std::int64_t i = 0; i < entries; ++i) {
      double* const row =
          rows + (static_cast<std::int64_t>(counts[written]) + i) % capacity * kFields;
      row[next_scale] = *current_scale;
      row[event] = *last_event;
      row[good_steps] = *growth_tracker;
      row[bad_steps] = *bad_in_a_row;
    }
    counts[written] += static_cast<double>(entries);
    counts[iterations] += 1;
    counts[loss_sum] = 0;
    counts[loss_count] = 0;
  }
};

// Adds *value to the losses of the iteration, or sets them back to none if `value` is null.
struct AddLoss {
  double* counts;
  const double* value;

  HG_HD void operator()(std::int64_t) const {
    counts[loss_sum] = value != nullptr ? counts[loss_sum] + *value : 0;
    counts[loss_count] = value != nullptr ? counts[loss_count] + 1 : 0;
  }
};

template <class T>
T* data_or_null(const Array& array) {
  return array.defined() ? array.data_as<T>() : nullptr;
}

amp::StepReport report_of(const double* row) {
  return {.step = static_cast<std::int64_t>(row[step]),
          .optimizer = static_cast<std::int64_t>(row[optimizer]),
          .scale = row[scale],
          .next_scale = row[next_scale],
          .found_inf = row[found_inf] != 0,
          .stepped = row[stepped] != 0,
          .event = static_cast<amp::ScaleEvent>(row[event]),
          .good_steps = static_cast<std::int32_t>(row[good_steps]),
          .bad_steps = static_cast<std::int32_t>(row[bad_steps]),
          .nonfinite = static_cast<std::int64_t>(row[nonfinite]),
          .first_bad_parameter = static_cast<std::int64_t>(row[first_bad_parameter]),
          .grad_norm = row[grad_norm],
          .clip_factor = row[clip_factor],
          .loss = row[losses] > 0 ? std::optional(row[loss]) : std::nullopt,
          .nonfinite_parameters = static_cast<std::int64_t>(row[nonfinite_parameters])};
}

}  // namespace

GradientFigures measure(const optim::Optimizer& optimizer, Device device) {
  std::int64_t parameters = 0;
  for (const auto& group : optimizer.param_groups()) parameters += std::ssize(group.params);
  const GradientFigures figures{Array::full({parameters}, 0, kDouble, device),
                                Array::full({parameters}, 0, kDouble, device)};
  std::int64_t index = 0;
  for (const auto& group : optimizer.param_groups()) {
    for (const Tensor& param : group.params) {
      const std::int64_t element = index++;
      const Tensor grad = param.grad();
      if (!grad.defined()) continue;
      reduce_to(figures.nonfinite.select(0, element), CountNonFinite(), grad.array());
      reduce_to(figures.squares.select(0, element), SumOfSquares(), grad.array());
    }
  }
  return figures;
}

Shape StepLog::sizes(std::int64_t capacity) { return {capacity + 1, kFields}; }

StepLog::StepLog(std::int64_t capacity, Device device)
    : rows_(Array::full(sizes(capacity), 0, kDouble, device)) {}

void StepLog::add_loss(const Array& loss) const {
  const Array value = loss.to(kDouble).to(rows_.device());
  const AddLoss add{rows_.select(0, rows_.size(0) - 1).data_as<double>(), value.data_as<double>()};
  parallel_for_each("add_loss", rows_.device(), 1, add);
}

void StepLog::drop_losses() const {
  const AddLoss none{rows_.select(0, rows_.size(0) - 1).data_as<double>(), nullptr};
  parallel_for_each("drop_losses", rows_.device(), 1, none);
}

void StepLog::begin(const std::vector<StepEntry>& entries, const ScaleState& state) const {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const StepEntry& entry = entries[i];
    const BeginRow row{rows_.data_as<double>(),
                       rows_.size(0) - 1,
                       static_cast<std::int64_t>(i),
                       entry.stepped,
                       data_or_null<float>(entry.found_inf),
                       data_or_null<double>(entry.checked.nonfinite),
                       data_or_null<double>(entry.checked.squares),
                       data_or_null<double>(entry.squares_at_step),
                       entry.checked.squares.defined() ? entry.checked.squares.numel() : 0,
                       state.scale.data_as<float>(),
                       state.inv_scale.data_as<float>()};
    parallel_for_each("begin_report", rows_.device(), 1, row);
  }
}

void StepLog::end(std::int64_t entries, const ScaleState& state) const {
  const EndRows rows{rows_.data_as<double>(),
                     rows_.size(0) - 1,
                     entries,
                     state.scale.data_as<float>(),
                     state.event.data_as<std::int32_t>(),
                     state.growth_tracker.data_as<std::int32_t>(),
                     state.bad_steps.data_as<std::int32_t>()};
  parallel_for_each("end_reports", rows_.device(), 1, rows);
}

std::vector<amp::StepReport> StepLog::read(const Array& rows) {
  const Array host = rows.to(Device());
  const std::int64_t capacity = host.size(0) - 1;
  const auto* const values = host.data_as<double>();
  const auto total = static_cast<std::int64_t>(values[capacity * kFields + written]);
  std::vector<amp::StepReport> reports;
  for (std::int64_t i = std::max<std::int64_t>(0, total - capacity); i < total; ++i) {
    reports.push_back(report_of(values + i % capacity * kFields));
  }
  return reports;
}

}  // namespace halfgrad::detail
