#include <algorithm>
#include <set>

#include <halfgrad/core/fail.h>
#include <halfgrad/dist/zero_redundancy_optimizer.h>

/// The state of all ranks as that of one optimizer, and back.
namespace halfgrad::dist {
namespace {

// Entries that are no moments: all ranks have the same.
bool is_scalar(const std::string& name) {
  return name == "step" || name == "mu_product" || name == halfgrad::detail::kOverflows;
}

}  // namespace

// Joins the ranks' parts of one entry of the parameters' states.
void ZeroRedundancyOptimizer::gather_entry(const Bucket& bucket, const std::string& name,
                                           optim::OptimizerState& state) const {
  const int rank = communicator_->rank();
  Array flat;
  const auto entry_of = [&](std::size_t k) -> Array* {
    const auto of_parameter = state.state.find(static_cast<std::int64_t>(bucket.members[k]));
    if (of_parameter == state.state.end()) return nullptr;
    const auto entry = of_parameter->second.find(name);
    return entry != of_parameter->second.end() ? &entry->second : nullptr;
  };
  for (std::size_t k = 0; k < bucket.members.size(); ++k) {
    const Array* const entry = entry_of(k);
    if (entry == nullptr) continue;
    if (!flat.defined()) {
      flat = Array::full({bucket.layout.size()}, 0, entry->dtype(), entry->device());
    }
    bucket.layout.segment_of_part(bucket.layout.part(flat, rank), k, rank).copy_(*entry);
  }
  if (!flat.defined()) return;
  communicator_->all_gather(flat, bucket.layout.part(flat, rank)).wait();
  const Array all = flat.to(Device());
  for (std::size_t k = 0; k < bucket.members.size(); ++k) {
    Array* const entry = entry_of(k);
    if (entry == nullptr) continue;
    *entry =
        bucket.layout.parameter(all, k).reshape(parameters_[bucket.members[k]].sizes()).clone();
  }
}

optim::OptimizerState ZeroRedundancyOptimizer::state_dict() const {
  optim::OptimizerState state = optimizer_->state_dict();
  std::set<std::string> names;
  for (auto& [index, of_parameter] : state.state) {
    for (auto& [name, entry] : of_parameter) {
      if (!is_scalar(name)) names.insert(name);
      if (name == halfgrad::detail::kOverflows) communicator_->all_reduce(entry).wait();
    }
  }
  for (const std::string& name : names) {
    for (const Bucket& bucket : buckets_) gather_entry(bucket, name, state);
  }
  return state;
}

void ZeroRedundancyOptimizer::load_state_dict(const optim::OptimizerState& saved) {
  optim::OptimizerState part = saved;
  const int rank = communicator_->rank();
  for (const Bucket& bucket : buckets_) {
    for (std::size_t k = 0; k < bucket.members.size(); ++k) {
      const std::size_t i = bucket.members[k];
      const auto of_parameter = part.state.find(static_cast<std::int64_t>(i));
      if (of_parameter == part.state.end()) continue;
      for (auto& [name, entry] : of_parameter->second) {
        if (name == halfgrad::detail::kOverflows && rank > 0) entry = Array::full({}, 0, kLong);
        if (is_scalar(name)) continue;
        if (entry.sizes() != parameters_[i].sizes()) {
          halfgrad::detail::fail("ZeroRedundancyOptimizer",
                                 "expected {} of parameter {} of shape {}, got {}", name, i,
                                 parameters_[i].sizes(), entry.sizes());
        }
        entry = bucket.layout.segment_of_parameter(entry.contiguous().reshape({-1}), k, rank);
      }
    }
  }
  optimizer_->load_state_dict(part);
  is_reduced_ = false;
}

void write(io::Checkpoint& checkpoint, const std::string& name,
           const ZeroRedundancyOptimizer& optimizer) {
  checkpoint.write(name, optimizer.optimizer().name(), optimizer.state_dict());
}

void read(const io::Checkpoint& checkpoint, const std::string& name,
          ZeroRedundancyOptimizer& optimizer) {
  checkpoint.require_text(name, optimizer.optimizer().name());
  optimizer.load_state_dict(checkpoint.optimizer_state(name));
}

}  // namespace halfgrad::dist
