#include <halfgrad/optim/loaded_state.h>

#include <algorithm>

#include <halfgrad/core/fail.h>

namespace halfgrad::detail {
namespace {

using optim::ParamState;
using optim::StateEntry;

void check_entries(const std::string& optimizer, std::int64_t number, const ParamState& saved,
                   const std::vector<StateEntry>& entries) {
  const std::vector<StateEntry> of_masters{{kMaster}, {kOverflows}};
  for (const auto& [name, array] : saved) {
    const auto has_name = [&name = name](const StateEntry& entry) { return entry.name == name; };
    if (std::ranges::any_of(entries, has_name) || std::ranges::any_of(of_masters, has_name)) {
      continue;
    }
    fail(optimizer, "expected entries of {} in the state of parameter {}, got {}", optimizer,
         number, name);
  }
  const auto is_saved = [&saved](const StateEntry& entry) { return saved.contains(entry.name); };
  for (const auto* kind : {&entries, &of_masters}) {
    if (std::ranges::none_of(*kind, is_saved)) continue;
    for (const StateEntry& entry : *kind) {
      if (!entry.is_required || entry.if_missing || is_saved(entry)) continue;
      fail(optimizer, "expected {} in the state of parameter {}, got none", entry.name, number);
    }
  }
}

}  // namespace

StateEntry::Sizes sizes_of(const std::string& name, const std::vector<StateEntry>& entries) {
  if (name == "step" || name == kOverflows) return StateEntry::Sizes::scalar;
  const auto entry = std::ranges::find(entries, name, &StateEntry::name);
  return entry != entries.end() ? entry->sizes : StateEntry::Sizes::of_parameter;
}

void add_master(ParamState& state, const Tensor& param) {
  state[kMaster] = param.array().to(DType::f32).contiguous();
  state[kOverflows] = Array::full({}, 0, kLong, param.device());
}

Array loaded_scalar(const std::string& optimizer, const std::string& name, const Array& saved) {
  const bool is_count = name == kOverflows || name == "skipped_steps";
  const DType dtype = is_count ? kLong : kFloat;
  if (saved.ndim() != 0) {
    fail(optimizer, "expected {} of shape {}, got {}", name, Shape(), saved.sizes());
  }
  Array scalar = saved.clone().to(dtype);
  if (saved.dtype() != dtype && scalar.item() != saved.item()) {
    fail(optimizer, "expected a value of {} that {} holds exactly, got {}", name, dtype,
         saved.item());
  }
  return scalar;
}

ParamState loaded_state(const std::string& optimizer, std::int64_t number, const ParamState& saved,
                        const Tensor& param, bool has_master,
                        const std::vector<StateEntry>& entries) {
  check_entries(optimizer, number, saved, entries);
  ParamState state;
  if (has_master && !saved.contains(kMaster)) add_master(state, param);
  const bool takes_master = is_reduced(param.dtype());
  const bool gets_master = has_master || (takes_master && saved.contains(kMaster));
  const DType updated = gets_master ? DType::f32 : param.dtype();
  for (const auto& [name, array] : saved) {
    if (!takes_master && (name == kMaster || name == kOverflows)) continue;
    const StateEntry::Sizes kind = sizes_of(name, entries);
    const bool is_moment = kind == StateEntry::Sizes::of_parameter;
    if (is_moment && array.sizes() != param.sizes()) {
      fail(optimizer, "expected {} of shape {}, got {}", name, param.sizes(), array.sizes());
    }
    const Array converted = kind == StateEntry::Sizes::scalar
                                ? loaded_scalar(optimizer, name, array)
                                : array.clone().to(is_moment ? updated : array.dtype());
    state[name] = converted.to(param.device());
  }
  const bool is_begun = std::ranges::any_of(
      entries, [&saved](const StateEntry& entry) { return saved.contains(entry.name); });
  for (const StateEntry& entry : entries) {
    if (!is_begun || !entry.if_missing || saved.contains(entry.name)) continue;
    state[entry.name] = Array::full({}, *entry.if_missing, kFloat, param.device());
  }
  return state;
}

}  // namespace halfgrad::detail
