#include <halfgrad/emulator/runtime/kernel_limits.h>

#include <algorithm>

#include <halfgrad/emulator/runtime/device.h>
#include <halfgrad/emulator/runtime/process.h>

namespace halfgrad::emulator {

std::string text_of(dim3 size) {
  return "(" + std::to_string(size.x) + "," + std::to_string(size.y) + "," +
         std::to_string(size.z) + ")";
}

namespace {

constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kMaxBlockZ = 64;
constexpr unsigned kMaxGridX = 0x7fffffff;
constexpr unsigned kMaxGridYZ = 65535;
constexpr unsigned kRegisterUnit = 256;  ///< registers are given to warps in this unit

std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

bool has_zero(dim3 size) { return size.x == 0 || size.y == 0 || size.z == 0; }

}  // namespace

unsigned estimated_registers(const Kernel& kernel, int device) {
  const Gpu& gpu = gpu_of(device);
  const unsigned blocks = std::max(1u, kernel.min_blocks);
  const unsigned allowed =
      gpu.registers_per_multiprocessor / (std::max(32u, kernel.max_threads) * blocks);
  return std::min(
      {40u, allowed / 8 * 8, static_cast<unsigned>(round_up(kernel.main->register_count + 8, 8))});
}

std::size_t dynamic_shared_limit(const KernelFunction& function, const Kernel& kernel, int device) {
  const int chosen = function.devices[static_cast<std::size_t>(device)].max_dynamic_shared;
  if (chosen >= 0) return static_cast<std::size_t>(chosen);
  const std::size_t all = gpu_of(device).shared_bytes_per_block;
  return all - std::min(all, kernel.static_shared_bytes);
}

unsigned resident_blocks(const Kernel& kernel, int device, unsigned threads,
                         std::size_t dynamic_shared) {
  const Gpu& gpu = gpu_of(device);
  if (threads == 0 || threads > std::min(kMaxThreads, kernel.max_threads)) return 0;
  const unsigned warps = (threads + 31) / 32;
  const std::size_t shared =
      round_up(kernel.static_shared_bytes + dynamic_shared, 128) + gpu.reserved_shared_bytes;
  const std::size_t registers =
      round_up(std::size_t{estimated_registers(kernel, device)} * 32, kRegisterUnit) * warps;
  return static_cast<unsigned>(std::min<std::size_t>(
      {gpu.blocks_per_multiprocessor, gpu.threads_per_multiprocessor / 32 / warps,
       gpu.shared_bytes_per_multiprocessor / shared,
       gpu.registers_per_multiprocessor / registers}));
}

cudaError_t check_limits(const KernelFunction& function, const Kernel& kernel, int device,
                         dim3 grid, dim3 block, std::size_t dynamic_shared, bool cooperative,
                         std::string& why) {
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (has_zero(grid) || grid.x > kMaxGridX || grid.y > kMaxGridYZ || grid.z > kMaxGridYZ) {
    why = "expected a grid of 1 to (2147483647,65535,65535) blocks, got " + text_of(grid);
    return cudaErrorInvalidConfiguration;
  }
  if (has_zero(block) || block.x > kMaxThreads || block.y > kMaxThreads || block.z > kMaxBlockZ ||
      threads > kMaxThreads) {
    why = "expected a block of 1 to 1024 threads, at most 64 in z, got " + text_of(block);
    return cudaErrorInvalidConfiguration;
  }
  if (threads > kernel.max_threads) {
    why = "expected at most " + std::to_string(kernel.max_threads) +
          " threads as in __launch_bounds__, got " + std::to_string(threads);
    return cudaErrorInvalidValue;
  }
  const auto& required = kernel.required_threads;
  if (required[0] != 0 &&
      (block.x != required[0] || block.y != required[1] || block.z != required[2])) {
    why = "expected the block size that the kernel requires, got " + text_of(block);
    return cudaErrorInvalidConfiguration;
  }
  const std::size_t limit = dynamic_shared_limit(function, kernel, device);
  const std::size_t most = gpu_of(device).shared_bytes_per_block_optin;
  if (dynamic_shared > limit || dynamic_shared + kernel.static_shared_bytes > most) {
    why =
        "expected at most " +
        std::to_string(std::min(limit, most - std::min(most, kernel.static_shared_bytes))) +
        " bytes of dynamic shared memory beside " + std::to_string(kernel.static_shared_bytes) +
        " static bytes, got " + std::to_string(dynamic_shared) +
        "; more than 48 KB needs cudaFuncSetAttribute(cudaFuncAttributeMaxDynamicSharedMemorySize)";
    return cudaErrorInvalidValue;
  }
  if (cooperative) {
    const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
    const std::uint64_t fit = std::uint64_t{resident_blocks(
                                  kernel, device, static_cast<unsigned>(threads), dynamic_shared)} *
                              machine(device).multiprocessors;
    if (blocks > fit) {
      why = "expected at most " + std::to_string(fit) +
            " blocks, which are resident at once, got " + std::to_string(blocks);
      return cudaErrorCooperativeLaunchTooLarge;
    }
  }
  return cudaSuccess;
}

}  // namespace halfgrad::emulator
