#include <halfgrad/emulator/runtime/modules.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <utility>

#include <halfgrad/emulator/ptx/readable_name.h>
#include <halfgrad/emulator/runtime/device.h>
#include <halfgrad/emulator/runtime/fat_binary_text.h>
#include <halfgrad/emulator/runtime/process.h>
#include <halfgrad/emulator/settings.h>

namespace halfgrad::emulator {
namespace {

std::optional<Mutant> chosen_mutant() {
  const std::string& text = settings().mutant;
  return text.empty() ? std::nullopt : std::optional(parse_mutant(text));
}

/// Allocates variables of a module on one device.
class VariablePlacement final : public Module::Placement {
 public:
  VariablePlacement(int device, std::map<std::string, std::uint64_t, std::less<>>& managed,
                    std::vector<std::uint64_t>& placed)
      : device_(device), managed_(managed), placed_(placed) {}

  std::uint64_t allocate(const Variable& variable) override {
    if (variable.managed) {
      if (const auto known = managed_.find(variable.name); known != managed_.end()) {
        initialised_.push_back(known->second);  // by the first device that loaded the module
        return known->second;
      }
    }
    const MemoryKind kind = variable.managed ? MemoryKind::managed : MemoryKind::variable;
    const Allocation* allocation = process().memory.allocate(
        kind, device_, std::max<std::size_t>(variable.bytes, 1),
        std::max<std::size_t>(variable.alignment, 1), "variable " + variable.name);
    if (allocation == nullptr) throw CallFailed{cudaErrorMemoryAllocation};
    if (variable.managed) managed_.emplace(variable.name, allocation->begin);
    placed_.push_back(allocation->begin);
    return allocation->begin;
  }

  void write(std::uint64_t address, std::span<const std::byte> bytes) override {
    if (std::find(initialised_.begin(), initialised_.end(), address) != initialised_.end()) return;
    const Allocation* allocation = process().memory.find(address, bytes.size());
    if (allocation == nullptr) return;
    const std::size_t offset = address - allocation->begin;
    std::memcpy(allocation->host + offset, bytes.data(), bytes.size());
    if (allocation->written != nullptr) std::memset(allocation->written + offset, 1, bytes.size());
  }

 private:
  int device_;
  std::map<std::string, std::uint64_t, std::less<>>& managed_;
  std::vector<std::uint64_t>& placed_;
  std::vector<std::uint64_t> initialised_;
};

}  // namespace

Module& ModuleImage::on(int device) {
  const std::lock_guard lock(mutex_);
  const auto i = static_cast<std::size_t>(device);
  if (modules_.size() <= i) modules_.resize(i + 1);
  if (modules_[i] == nullptr) {
    if (text_.empty()) {
      const Gpu& gpu = gpu_of(device);
      text_ = linked_ptx_for(fat_binaries_, static_cast<unsigned>(gpu.major * 10 + gpu.minor));
    }
    std::unique_ptr<Module> module;
    try {
      module = std::make_unique<Module>(text_, chosen_mutant());
    } catch (const std::exception& error) {
      report_call(FindingKind::unknown_instruction, "PTX", error.what());
      throw CallFailed{cudaErrorInvalidPtx};
    }
    VariablePlacement placement(device, managed_, placed_);
    module->place(placement);
    modules_[i] = std::move(module);
  }
  return *modules_[i];
}

void ModuleImage::unload() {
  const std::lock_guard lock(mutex_);
  for (const std::uint64_t address : placed_) process().memory.free(address);
  placed_.clear();
  managed_.clear();
  modules_.clear();
}

const Kernel& KernelFunction::kernel(int device) const {
  const Kernel* found = nullptr;
  try {
    found = image->on(device).kernel(name);
  } catch (const std::exception& error) {
    report_call(FindingKind::unknown_instruction, readable.c_str(), error.what());
    throw CallFailed{cudaErrorInvalidPtx};
  }
  if (found == nullptr) {
    report_call(FindingKind::invalid_call, readable.c_str(),
                "its module has no PTX of this kernel");
    throw CallFailed{cudaErrorInvalidDeviceFunction};
  }
  return *found;
}

ModuleTable& module_table() {
  static ModuleTable* const table = new ModuleTable;
  return *table;
}

ModuleImage* ModuleTable::add_image(std::vector<const void*> fat_binaries) {
  const std::lock_guard lock(mutex_);
  return images_.emplace_back(std::make_unique<ModuleImage>(std::move(fat_binaries))).get();
}

void ModuleTable::remove_image(ModuleImage* image) {
  const std::lock_guard lock(mutex_);
  // The image itself stays: destructors that run later may still launch or name its kernels.
  for (const auto& known : images_) {
    if (known.get() == image) image->unload();
  }
}

KernelFunction* ModuleTable::add_kernel(const void* host, ModuleImage* image, std::string name) {
  auto function = std::make_unique<KernelFunction>();
  function->image = image;
  function->readable = readable_name(name);
  function->name = std::move(name);
  function->devices.resize(static_cast<std::size_t>(std::max(1, process().settings.devices)));
  const std::lock_guard lock(mutex_);
  // An inline or template kernel of several sources is registered by each of them; all are alike.
  const auto [entry, added] = kernels_.emplace(host, std::move(function));
  if (added) handles_.emplace(entry->second.get(), entry->second.get());
  return entry->second.get();
}

void ModuleTable::add_variable(const void* host, DeviceVariable variable) {
  const std::lock_guard lock(mutex_);
  variables_.emplace(host, std::move(variable));
}

void ModuleTable::add_managed(ModuleImage* image, void** pointer, std::string name) {
  const std::lock_guard lock(mutex_);
  managed_.push_back({image, pointer, std::move(name)});
}

void ModuleTable::place_managed(ModuleImage* image) {
  const std::lock_guard lock(mutex_);
  for (const Managed& managed : managed_) {
    if (managed.image != image) continue;
    auto& variables = image->on(current_device()).variables();
    const auto found = variables.find(managed.name);
    if (found == variables.end()) continue;
    *managed.pointer = reinterpret_cast<void*>(found->second.address);
    variables_.insert_or_assign(*managed.pointer,
                                DeviceVariable{image, managed.name, found->second.bytes});
    variables_.insert_or_assign(managed.pointer,
                                DeviceVariable{image, managed.name, found->second.bytes});
  }
}

KernelFunction* ModuleTable::find_kernel(const void* function) {
  const std::lock_guard lock(mutex_);
  if (const auto found = kernels_.find(function); found != kernels_.end())
    return found->second.get();
  const auto handle = handles_.find(function);
  return handle == handles_.end() ? nullptr : handle->second;
}

KernelFunction* ModuleTable::find_kernel_named(const std::string& name) {
  const std::lock_guard lock(mutex_);
  for (const auto& [host, kernel] : kernels_) {
    if (kernel->name == name) return kernel.get();
  }
  return nullptr;
}

const DeviceVariable* ModuleTable::find_variable(const void* symbol) {
  const std::lock_guard lock(mutex_);
  const auto found = variables_.find(symbol);
  return found == variables_.end() ? nullptr : &found->second;
}

}  // namespace halfgrad::emulator
