#pragma once

#include <cstdint>
#include <string>

namespace halfgrad::emulator {

/// Source of the arguments of format_printf.
struct PrintfArguments {
  virtual ~PrintfArguments() = default;
  /// The next argument, of 4 or 8 bytes.
  virtual std::uint64_t next(unsigned bytes) = 0;
  /// The text at a device address.
  virtual std::string string(std::uint64_t address) = 0;
};

struct PrintfResult {
  std::string text;
  int arguments = 0;  ///< count of printed arguments: the result of printf in a kernel
};

/// Formats as printf in a kernel does (CUDA C++ Programming Guide, "Formatted Output").
PrintfResult format_printf(const std::string& format, PrintfArguments& arguments);

}  // namespace halfgrad::emulator
