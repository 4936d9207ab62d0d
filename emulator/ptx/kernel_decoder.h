#pragma once

#include <deque>
#include <map>

#include <halfgrad/emulator/ptx/function_decoder.h>

namespace halfgrad::emulator {

/// A kernel and the functions that it calls. Each kernel has its own decoded functions: their
/// shared variables and counters lie elsewhere in each.
struct DecodedKernel {
  Kernel kernel;
  std::deque<Function> functions;
};

/// Decodes a kernel and what it may call. Throws std::runtime_error("line N: ...").
class KernelDecoder : private KernelSymbols {
 public:
  KernelDecoder(const ModuleIndex& index, DecodedKernel& decoded)
      : index_(index), decoded_(decoded) {}

  void run(const FunctionEntry& entry);

 private:
  SymbolAddress address_of(std::string_view name) override;
  const Function* function(std::string_view name) override;
  std::uint64_t add_shared(std::size_t bytes, std::size_t alignment) override;
  void add_dynamic_shared(std::size_t alignment) override;
  std::optional<SharedArray> shared_array(std::string_view name) override;

  Function& add(const FunctionEntry& entry);
  void decode_all();
  void add_callable_functions();
  void check_calls() const;
  static void find_places(Function& function);
  void count_instructions();
  void find_local_bytes();

  const ModuleIndex& index_;
  DecodedKernel& decoded_;
  std::vector<const FunctionEntry*> entries_;  ///< decoded_.functions' entries
  std::map<std::string_view, Function*> by_name_;
  std::map<std::string_view, std::uint64_t> shared_;
};

}  // namespace halfgrad::emulator
