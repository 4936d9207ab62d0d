#include <halfgrad/emulator/ptx/module.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <unordered_map>

#include <halfgrad/emulator/ptx/kernel_decoder.h>

namespace halfgrad::emulator {

namespace {

/// Names of kernels have long common prefixes: a hash reads each once.
struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const {
    return std::hash<std::string_view>()(name);
  }
};

}  // namespace

struct Module::State {
  ModuleIndex index;
  bool placed = false;
  std::mutex mutex;
  std::unordered_map<std::string, std::unique_ptr<DecodedKernel>, NameHash, std::equal_to<>>
      kernels;

  std::uint64_t address_of(const std::string& symbol) const {
    if (const auto found = index.variables.find(symbol); found != index.variables.end()) {
      return found->second.address;
    }
    if (const FunctionEntry* function = index.function(symbol)) return function->address;
    throw std::runtime_error("an initial value names the unknown symbol " + symbol);
  }
};

Module::Module(std::string text, std::optional<Mutant> mutant) : state_(std::make_unique<State>()) {
  state_->index.text = std::move(text);
  state_->index.mutant = std::move(mutant);
  index_module(state_->index);
}

Module::~Module() = default;

const std::string& Module::text() const { return state_->index.text; }

unsigned Module::target() const { return state_->index.target; }

std::string Module::file_name(std::uint32_t file) const {
  const auto found = state_->index.files.find(file);
  return found == state_->index.files.end() ? "?" : found->second;
}

std::optional<SourceLine> Module::mutant_place(const Location& location) const {
  return emulator::mutant_place(state_->index, location);
}

std::vector<std::string> Module::kernel_names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : state_->index.functions) {
    if (entry.is_kernel && entry.defined) names.push_back(name);
  }
  return names;
}

std::map<std::string, Variable, std::less<>>& Module::variables() {
  return state_->index.variables;
}

void Module::place(Placement& placement) {
  auto& variables = state_->index.variables;
  for (auto& [name, variable] : variables) {
    if (!variable.external) variable.address = placement.allocate(variable);
  }
  state_->placed = true;
  for (auto& [name, variable] : variables) {
    if (variable.external) continue;
    std::vector<std::byte> bytes = variable.initial;
    bytes.resize(variable.bytes);  // PTX initialises variables to 0
    for (const auto& reference : variable.references) {
      const std::uint64_t address =
          (state_->address_of(reference.symbol) + static_cast<std::uint64_t>(reference.addend)) >>
          reference.shift;
      std::memcpy(&bytes[reference.offset], &address, reference.bytes);
    }
    placement.write(variable.address, bytes);
  }
}

const Kernel* Module::kernel(std::string_view mangled_name) {
  const std::lock_guard lock(state_->mutex);
  if (const auto found = state_->kernels.find(mangled_name); found != state_->kernels.end()) {
    return &found->second->kernel;
  }
  const FunctionEntry* entry = state_->index.function(mangled_name);
  if (entry == nullptr || !entry->is_kernel || !entry->defined) return nullptr;
  if (!state_->placed && !state_->index.variables.empty()) {
    throw std::logic_error("Module::kernel: the module's variables have no addresses yet");
  }
  auto decoded = std::make_unique<DecodedKernel>();
  KernelDecoder(state_->index, *decoded).run(*entry);
  static std::atomic<std::uint64_t> serial{0};
  decoded->kernel.serial = ++serial;
  return &(state_->kernels[std::string(mangled_name)] = std::move(decoded))->kernel;
}

const Kernel* Module::kernel_at(std::uint64_t address) {
  for (const auto& [name, entry] : state_->index.functions) {
    if (entry.is_kernel && entry.address == address) return kernel(name);
  }
  return nullptr;
}

const Function* Module::function_at(const Kernel& kernel, std::uint64_t address) {
  const auto found =
      std::find_if(kernel.functions.begin(), kernel.functions.end(), [&](const Function* function) {
        return function->address == address && !function->is_kernel;
      });
  return found == kernel.functions.end() ? nullptr : *found;
}

}  // namespace halfgrad::emulator
