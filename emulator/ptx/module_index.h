#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/emulator/ptx/declaration.h>
#include <halfgrad/emulator/ptx/module.h>
#include <halfgrad/emulator/ptx/mutation.h>

namespace halfgrad::emulator {

/// The place where a module declares a function, and the address at which `mov` finds it.
struct FunctionEntry {
  std::string name;
  bool is_kernel = false;
  bool defined = false;   ///< has a body
  std::size_t begin = 0;  ///< position of `.entry` or `.func` in the text
  std::uint32_t line = 0;
  std::uint64_t address = 0;
};

/// A variable of the module in shared memory, which kernels lay out when they use it.
struct SharedEntry {
  std::size_t bytes = 0, alignment = 1;
  bool dynamic = false;  ///< `extern __shared__`
};

/// The contents of a module, found without reading the bodies of functions.
struct ModuleIndex {
  std::string text;
  unsigned target = 0;
  std::optional<Mutant> mutant;  ///< the change that kernels get when they are decoded
  std::map<std::uint32_t, std::string> files;
  std::map<std::string, FunctionEntry, std::less<>> functions;
  std::map<std::string, std::string, std::less<>> aliases;  ///< second names of functions
  std::map<std::string, Variable, std::less<>> variables;
  std::map<std::string, SharedEntry, std::less<>> shared;

  /// The function of that name or alias, or nullptr.
  const FunctionEntry* function(std::string_view name) const;
};

/// Fills the index from `index.text`. Throws std::runtime_error("line N: ...").
void index_module(ModuleIndex& index);

/// Reads the initial value of a variable, after its `=`, and completes the size of an unsized
/// array.
void expect_initial_value(Lexer& lexer, Declaration& declaration, Variable& variable);

}  // namespace halfgrad::emulator
