#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/amp/log/loaded_log.h>
#include <halfgrad/core/fail.h>

/// The calls of GradScaler between iterations: figures, options, saving and loading.
namespace halfgrad::amp {

using halfgrad::detail::fail;

LossScale GradScaler::loss_scale() const { return state_.initialized() ? state_.read() : first_; }

double GradScaler::get_scale() const { return options_.enabled ? loss_scale().scale : 1; }

std::int32_t GradScaler::get_growth_tracker() const {
  return options_.enabled ? loss_scale().good_steps : 0;
}

GradScalerCounts GradScaler::counts() const {
  const std::map<std::string, Array> all = records();
  if (all.empty()) return {};
  using detail::ScaleState;
  const Array host = all.at("counters").to(Device());
  const auto* const count = host.data_as<std::int64_t>();
  return {count[ScaleState::steps], count[ScaleState::skipped_steps], count[ScaleState::growths],
          count[ScaleState::backoffs]};
}

std::vector<StepReport> GradScaler::reports() const {
  if (log_.enabled()) return detail::StepLog::read(log_.rows());
  const auto loaded = first_records_.find("log");
  return loaded != first_records_.end() ? detail::StepLog::read(loaded->second)
                                        : std::vector<StepReport>();
}

void GradScaler::set_options(const GradScalerOptions& options, const char* method) {
  if (options.enabled) check_options(options, method);
  options_ = options;
}

void GradScaler::set_growth_factor(double growth_factor) {
  GradScalerOptions changed = options_;
  changed.growth_factor = growth_factor;
  set_options(changed, "set_growth_factor");
}

void GradScaler::set_backoff_factor(double backoff_factor) {
  GradScalerOptions changed = options_;
  changed.backoff_factor = backoff_factor;
  set_options(changed, "set_backoff_factor");
}

void GradScaler::set_growth_interval(std::int32_t growth_interval) {
  GradScalerOptions changed = options_;
  changed.growth_interval = growth_interval;
  set_options(changed, "set_growth_interval");
}

GradScalerState GradScaler::state_dict() const {
  if (!options_.enabled) return {};
  const LossScale now = loss_scale();
  GradScalerState state{{"scale", now.scale},
                        {"growth_factor", options_.growth_factor},
                        {"backoff_factor", options_.backoff_factor},
                        {"growth_interval", options_.growth_interval},
                        {"_growth_tracker", now.good_steps}};
  if (options_.hysteresis > 1) state["_bad_steps"] = now.bad_steps;
  if (options_.rule.one_step_late) state["_next_scale"] = now.next_scale;
  return state;
}

void GradScaler::load_state_dict(const GradScalerState& state) {
  if (!options_.enabled) return;
  if (state.empty()) {
    fail<std::runtime_error>("load_state_dict",
                             "expected the state of an enabled scaler, got an empty one, as a "
                             "disabled scaler gives");
  }
  std::string missing;
  for (const char* key :
       {"scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker"}) {
    if (!state.contains(key)) missing += (missing.empty() ? "" : ", ") + std::string(key);
  }
  if (!missing.empty()) {
    fail("load_state_dict", "expected PyTorch's keys, got none for {}", missing);
  }
  const auto integer = [&](const char* key, std::int32_t least) {
    const double value = state.at(key);
    const double nearest =
        std::nearbyint(std::clamp(value, static_cast<double>(least), 0x1p31 - 1));
    if (value != nearest) {
      fail("load_state_dict", "expected {} to be an int32 >= {}, got {}", key, least, value);
    }
    return static_cast<std::int32_t>(value);
  };
  GradScalerOptions loaded = options_;
  loaded.growth_factor = state.at("growth_factor");
  loaded.backoff_factor = state.at("backoff_factor");
  loaded.growth_interval = integer("growth_interval", 1);
  LossScale now{.scale = state.at("scale")};
  now.good_steps = integer("_growth_tracker", std::min(0, options_.rule.after_bad_step));
  if (state.contains("_bad_steps")) now.bad_steps = integer("_bad_steps", 0);
  if (state.contains("_next_scale")) now.next_scale = state.at("_next_scale");
  check_reachable(now.scale, loaded, "load_state_dict: scale");
  check_reachable(now.next_scale, loaded, "load_state_dict: _next_scale");
  set_options(loaded, "load_state_dict");
  first_ = now;
  detail::settle_deferred();
  if (state_.initialized()) state_.set(now);
  scale_id_ = detail::new_scale_id();
}

void GradScaler::copy_records(const std::map<std::string, Array>& records,
                              const detail::ScaleState& state, const detail::StepLog& log) {
  for (const auto& [name, array] : records) {
    (name == "log" ? log.rows() : state.counters).copy_(array);
  }
}

std::map<std::string, Array> GradScaler::records() const {
  if (!state_.initialized()) return first_records_;
  std::map<std::string, Array> records{{"counters", state_.counters.clone()}};
  if (log_.enabled()) records["log"] = log_.rows().clone();
  return records;
}

std::map<std::string, Array> GradScaler::fitting(const std::map<std::string, Array>& saved) const {
  std::map<std::string, Array> records;
  for (const auto& [name, array] : saved) {
    if (name == "counters") {
      detail::check_counters(array);
      records[name] = array;
    } else if (name != "log") {
      fail("load_records", "expected \"counters\" and \"log\", got \"{}\"", name);
    } else {
      const Array log = detail::loaded_log(array, options_.history);
      if (options_.history > 0) records[name] = log;
    }
  }
  return records;
}

void GradScaler::check_records(const std::map<std::string, Array>& saved) const {
  static_cast<void>(fitting(saved));
}

void GradScaler::load_records(const std::map<std::string, Array>& saved) {
  std::map<std::string, Array> records = fitting(saved);
  if (!state_.initialized()) {
    first_records_ = std::move(records);
    return;
  }
  copy_records(records, state_, log_);
}

}  // namespace halfgrad::amp
