#pragma once

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/emulator/ptx/module.h>

namespace halfgrad::emulator {

/// Places variables at addresses from 4096 on, and keeps what is written there.
struct Memory : Module::Placement {
  std::uint64_t next = 4096;
  std::map<std::uint64_t, std::vector<std::byte>> written;

  std::uint64_t allocate(const Variable& variable) override {
    next = (next + variable.alignment - 1) / variable.alignment * variable.alignment;
    return std::exchange(next, next + variable.bytes);
  }
  void write(std::uint64_t address, std::span<const std::byte> bytes) override {
    written[address].assign(bytes.begin(), bytes.end());
  }

  template <class T>
  T value(std::uint64_t address, std::size_t i) const {
    T result;
    std::memcpy(&result, written.at(address).data() + i * sizeof(T), sizeof(T));
    return result;
  }
};

inline const std::string kPtxHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// A module with `before` and one kernel `k` with that body.
inline std::string kernel_text(const std::string& body, const std::string& before = "",
                               const std::string& parameters = "") {
  return kPtxHead + before + "\n.visible .entry k(" + parameters + ")\n{\n" + body + "\n}\n";
}

/// The message with which the module, or its kernel `k`, refuses the text.
inline std::string error_of(const std::string& text) {
  try {
    Module module(text);
    Memory memory;
    module.place(memory);
    module.kernel("k");
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace halfgrad::emulator
