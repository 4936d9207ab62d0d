#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <halfgrad/emulator/ptx/function.h>
#include <halfgrad/emulator/ptx/mutation.h>

namespace halfgrad::emulator {

/// A variable of the module in global or constant memory.
struct Variable {
  std::string name;
  std::size_t bytes = 0, alignment = 1;
  bool constant = false;
  bool managed = false;       ///< __managed__: the host may access it
  bool external = false;      ///< declared here and defined in no module
  std::uint64_t address = 0;  ///< set by Module::place
  std::vector<std::byte> initial;

  /// An address of a symbol in the initial value.
  struct Reference {
    std::size_t offset = 0, bytes = 8;  ///< 8 bytes, or the one byte of the address at bit `shift`
    unsigned shift = 0;
    std::string symbol;
    std::int64_t addend = 0;
  };
  std::vector<Reference> references;
};

/// One PTX text. Functions are decoded when a kernel is first asked for; this is thread-safe.
class Module {
 public:
  /// Throws std::runtime_error("line N: ...") for text that is not PTX as nvcc emits it.
  /// A mutant changes the instructions of its kind at its line.
  explicit Module(std::string text, std::optional<Mutant> mutant = std::nullopt);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const std::string& text() const;
  /// `.target`: 80 for sm_80.
  unsigned target() const;
  /// Path of a `.file` number, or "?".
  std::string file_name(std::uint32_t file) const;
  /// The line by which a mutant names a statement, see mutation.h.
  std::optional<SourceLine> mutant_place(const Location& location) const;
  std::vector<std::string> kernel_names() const;

  std::map<std::string, Variable, std::less<>>& variables();
  /// Gives variables their addresses: `allocate(bytes, alignment)` returns device addresses, and
  /// `write(address, bytes)` copies initial values there. Call before the first kernel().
  struct Placement {
    virtual std::uint64_t allocate(const Variable& variable) = 0;
    virtual void write(std::uint64_t address, std::span<const std::byte> bytes) = 0;
    virtual ~Placement() = default;
  };
  void place(Placement& placement);

  /// The kernel of that mangled name, or nullptr. Throws std::runtime_error where decoding finds
  /// text that is not PTX; unknown instructions do not throw before they are executed.
  const Kernel* kernel(std::string_view mangled_name);
  /// The kernel at an address that `mov` took, for launches by kernels, or nullptr. Throws as
  /// kernel() does.
  const Kernel* kernel_at(std::uint64_t address);
  /// The function of the kernel at an address that `mov` took, for indirect calls, or nullptr.
  static const Function* function_at(const Kernel& kernel, std::uint64_t address);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halfgrad::emulator
