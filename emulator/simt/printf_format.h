#pragma once

#include <cstdint>
#include <string>

namespace halfgrad::emulator {

/// Where format_printf gets its arguments.
struct PrintfArguments {
  virtual ~PrintfArguments() = default;
  /// The next argument, of 4 or 8 bytes.
  virtual std::uint64_t next(unsigned bytes) = 0;
  /// The text at a device address.
  virtual std::string string(std::uint64_t address) = 0;
};

struct PrintfResult {
  std::string text;
  int arguments = 0;  ///< that were printed: what printf returns in a kernel
};

/// Formats as printf in a kernel does (CUDA C++ Programming Guide, "Formatted Output").
PrintfResult format_printf(const std::string& format, PrintfArguments& arguments);

}  // namespace halfgrad::emulator
