#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include <halfgrad/emulator/ptx/module.h>
#include <halfgrad/emulator/runtime/call.h>

namespace halfgrad::emulator {

/// Device code of one fat binary. Its text is parsed when a device first needs it; each device has
/// its own variables, but all share the managed ones.
class ModuleImage {
 public:
  /// Several fat binaries are one module, whose sources were compiled with -rdc=true.
  explicit ModuleImage(std::vector<const void*> fat_binaries)
      : fat_binaries_(std::move(fat_binaries)) {}

  /// The module on a device, its variables placed. Throws CallFailed where the fat binary has no
  /// PTX that the device can run.
  Module& on(int device);
  /// Ends the variables' allocations.
  void unload();

 private:
  std::vector<const void*> fat_binaries_;
  std::mutex mutex_;
  std::string text_;
  std::vector<std::unique_ptr<Module>> modules_;
  std::map<std::string, std::uint64_t, std::less<>> managed_;
  std::vector<std::uint64_t> placed_;
};

/// A kernel of the program, named by its host stub's address or by a handle.
struct KernelFunction {
  ModuleImage* image = nullptr;
  std::string name;      ///< mangled
  std::string readable;  ///< demangled, without its parameters
  struct DeviceAttributes {
    int max_dynamic_shared = -1;  ///< as cudaFuncSetAttribute set it, or -1
    int carveout = -1;
    bool large_clusters = false;  ///< more than 8 blocks, which not every GPU can run
  };
  std::vector<DeviceAttributes> devices;

  const Kernel& kernel(int device) const;
};

/// A `__device__`, `__constant__` or `__managed__` variable, named by its host shadow's address.
struct DeviceVariable {
  ModuleImage* image = nullptr;
  std::string name;
  std::size_t bytes = 0;
};

/// All modules, kernels and variables that the program has registered. Thread-safe.
class ModuleTable {
 public:
  ModuleImage* add_image(std::vector<const void*> fat_binaries);
  void remove_image(ModuleImage* image);
  KernelFunction* add_kernel(const void* host, ModuleImage* image, std::string name);
  void add_variable(const void* host, DeviceVariable variable);
  void add_managed(ModuleImage* image, void** pointer, std::string name);
  /// Stores the addresses of the image's managed variables where the program reads them.
  void place_managed(ModuleImage* image);

  /// By the address of the host stub, or by a cudaKernel_t or cudaFunction_t. nullptr: unknown.
  KernelFunction* find_kernel(const void* function);
  /// By its mangled name.
  KernelFunction* find_kernel_named(const std::string& name);
  const DeviceVariable* find_variable(const void* symbol);

 private:
  struct Managed {
    ModuleImage* image;
    void** pointer;
    std::string name;
  };
  std::mutex mutex_;
  std::vector<std::unique_ptr<ModuleImage>> images_;
  std::map<const void*, std::unique_ptr<KernelFunction>> kernels_;
  std::map<const void*, KernelFunction*> handles_;
  std::map<const void*, DeviceVariable> variables_;
  std::vector<Managed> managed_;
};
ModuleTable& module_table();

}  // namespace halfgrad::emulator
