#include <bit>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/io/checkpoint.h>

namespace halfgrad::io {
namespace {

constexpr std::string_view kGrad = ".grad";

void check_same_type(const std::string& name, const Tensor& expected, const Tensor& got) {
  if (expected.dtype() == got.dtype() && expected.sizes() == got.sizes()) return;
  halfgrad::detail::fail("Checkpoint", "expected {} {} for \"{}\", got {} {}", expected.dtype(),
                         expected.sizes(), name, got.dtype(), got.sizes());
}

}  // namespace

void Checkpoint::write(const std::string& name, const nn::Module& module) {
  erase(name);
  for (const auto& [key, tensor] : module.state_dict()) write(name + "/" + key, tensor);
  for (const auto& [key, parameter] : module.named_parameters()) {
    const Tensor grad = parameter.grad();
    if (grad.defined()) write(name + "/" + key + std::string(kGrad), grad);
  }
}

void Checkpoint::read(const std::string& name, nn::Module& module) const {
  TensorMap found = part(name);
  std::vector<std::pair<Tensor, Tensor>> grads;  // parameter, gradient
  for (const auto& [key, parameter] : module.named_parameters()) {
    auto grad = found.extract(key + std::string(kGrad));
    if (!grad.empty()) check_same_type(grad.key(), parameter, grad.mapped());
    grads.emplace_back(parameter, grad.empty() ? Tensor() : grad.mapped());
  }
  nn::StateDict state;
  for (const auto& [key, tensor] : module.state_dict()) {
    if (const auto saved = found.find(key); saved != found.end()) {
      check_same_type(name + "/" + key, tensor, saved->second);
    }
  }
  for (const auto& [key, tensor] : found) state.insert(key, tensor);
  module.load_state_dict(state);
  for (auto& [parameter, grad] : grads) {
    parameter.set_grad(grad.defined() ? Tensor(grad.array().clone().to(parameter.device())) : grad);
  }
}

namespace {

void write_schedule(Checkpoint& to, const std::string& name, const optim::LRSchedulerState& state) {
  const auto rates = [](const std::vector<double>& values) {
    return halfgrad::tensor(values, {.dtype = kDouble});
  };
  to.write(name + "/last_epoch", state.last_epoch);
  to.write(name + "/base_lrs", rates(state.base_lrs));
  to.write(name + "/last_lr", rates(state.last_lr));
  to.write(name + "/pending_steps", state.pending_steps);
  to.write(name + "/pending_skipped", state.pending_skipped);
  if (state.fraction != 0) to.write(name + "/fraction", state.fraction);
  for (std::size_t i = 0; i < state.schedulers.size(); ++i) {
    write_schedule(to, name + "/" + std::to_string(i), state.schedulers[i]);
  }
}

optim::LRSchedulerState read_schedule(const Checkpoint& from, const std::string& name) {
  optim::LRSchedulerState state{.last_epoch = from.integer(name + "/last_epoch"),
                                .base_lrs = from.numbers(name + "/base_lrs"),
                                .last_lr = from.numbers(name + "/last_lr"),
                                .pending_steps = from.integer(name + "/pending_steps"),
                                .pending_skipped = from.integer(name + "/pending_skipped")};
  const std::string fraction = name + "/fraction";
  if (from.tensors.contains(fraction)) state.fraction = from.number(fraction);
  const auto nested = [&] { return name + "/" + std::to_string(state.schedulers.size()); };
  while (from.tensors.contains(nested() + "/last_epoch")) {
    state.schedulers.push_back(read_schedule(from, nested()));
  }
  return state;
}

}  // namespace

void Checkpoint::write(const std::string& name, const optim::LRScheduler& scheduler) {
  erase(name);
  write_schedule(*this, name, scheduler.state_dict());
}

void Checkpoint::read(const std::string& name, optim::LRScheduler& scheduler) const {
  scheduler.load_state_dict(read_schedule(*this, name));
}

namespace {

template <class Scaler>
void write_scaler(Checkpoint& to, const std::string& name, const Scaler& scaler) {
  to.erase(name);
  if (!scaler.is_enabled()) return;
  for (const auto& [key, value] : scaler.state_dict()) to.write(name + "/" + key, value);
  for (const auto& [key, array] : scaler.records()) to.write(name + "/" + key, Tensor(array));
}

template <class Scaler>
void read_scaler(const Checkpoint& from, const std::string& name, Scaler& scaler) {
  if (!scaler.is_enabled()) return;
  amp::GradScalerState state;
  std::map<std::string, Array> records;
  for (const auto& [key, tensor] : from.part(name)) {
    if (tensor.dim() == 0) {
      state[key] = from.number(name + "/" + key);
    } else {
      records[key] = tensor.array();
    }
  }
  if (state.empty()) {
    halfgrad::detail::fail("Checkpoint",
                           "expected the state of an enabled scaler called \"{}\", got none", name);
  }
  scaler.check_records(records);  // before anything changes
  scaler.load_state_dict(state);
  scaler.load_records(records);
}

}  // namespace

void Checkpoint::write(const std::string& name, const amp::GradScaler& scaler) {
  write_scaler(*this, name, scaler);
}
void Checkpoint::read(const std::string& name, amp::GradScaler& scaler) const {
  read_scaler(*this, name, scaler);
}
void Checkpoint::write(const std::string& name, const amp::AsyncGradScaler& scaler) {
  write_scaler(*this, name, scaler);
}
void Checkpoint::read(const std::string& name, amp::AsyncGradScaler& scaler) const {
  read_scaler(*this, name, scaler);
}

void Checkpoint::write(const std::string& name, const Generator& generator) {
  const RandomKey next = generator.get_state();
  erase(name);
  write(name + "/seed", std::bit_cast<std::int64_t>(next.seed));
  write(name + "/stream", std::bit_cast<std::int64_t>(next.stream));
}

void Checkpoint::read(const std::string& name, Generator& generator) const {
  generator.set_state({.seed = std::bit_cast<std::uint64_t>(integer(name + "/seed")),
                       .stream = std::bit_cast<std::uint64_t>(integer(name + "/stream"))});
}

}  // namespace halfgrad::io
