#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include <halfgrad/emulator/ptx/function_builder.h>
#include <halfgrad/emulator/ptx/lexer.h>
#include <halfgrad/emulator/ptx/module_index.h>
#include <halfgrad/emulator/ptx/statement_parser.h>

namespace halfgrad::emulator {

/// Symbols that functions of a kernel share while they are decoded.
struct KernelSymbols : SymbolTable {
  /// The function of that name, which is decoded later, or nullptr if the module does not define
  /// it.
  virtual const Function* function(std::string_view name) = 0;
  /// Reserves shared memory and returns its offset.
  virtual std::uint64_t add_shared(std::size_t bytes, std::size_t alignment) = 0;
  virtual void add_dynamic_shared(std::size_t alignment) = 0;
  /// The variable of the module in shared memory, if it has that name and a size.
  virtual std::optional<SharedArray> shared_array(std::string_view name) = 0;
};

/// Directives of a kernel (PTX ISA, "Performance-Tuning Directives").
struct KernelDirectives {
  unsigned max_threads = 1024, min_blocks = 0;
  std::array<unsigned, 3> required_threads{};
  std::array<unsigned, 3> required_cluster{};
};

/// Reads the head and the body of a function and decodes its instructions.
class FunctionDecoder {
 public:
  FunctionDecoder(const ModuleIndex& index, const FunctionEntry& entry, Function& function,
                  KernelSymbols& symbols);

  /// Throws std::runtime_error("line N: ...").
  void run();
  const KernelDirectives& directives() const { return directives_; }

 private:
  /// A label or table that an instruction names, to be resolved at the function's end.
  struct Jump {
    std::size_t instruction;
    std::string_view name;
    std::size_t scope;
  };

  // function_head.cpp
  void head();
  void formal_parameters(std::vector<Parameter>& parameters);
  void head_directive();
  LocalSymbol add_parameter(const Declaration& declaration);
  void local_directive();
  void register_directive();
  void variable_directive(std::string_view space);
  void location_directive();

  // function_decoder.cpp
  void body();
  void labelled(const Token& name);
  void decode(Statement statement);
  Instruction decode_mutant(Statement statement);
  Instruction decode_instruction(const Statement& statement);
  void finish();
  std::optional<SharedArray> shared_array(std::string_view name) const;

  // control_flow.cpp
  void control_flow(class Encoder& encoder);
  void call(Encoder& encoder);
  std::vector<Parameter> call_parameters(const Encoder& encoder, const Operand& list) const;
  void resolve_jumps();
  std::uint32_t label(const Jump& jump, std::string_view name) const;

  const ModuleIndex& index_;
  Function& function_;
  KernelSymbols& symbols_;
  FunctionBuilder builder_;
  Lexer lexer_;
  StatementParser parser_;
  KernelDirectives directives_;
  Location location_;
  std::vector<std::size_t> parameter_ends_;  ///< one for each open scope
  std::size_t parameter_end_ = 0, local_alignment_ = 16;
  std::vector<Jump> jumps_;
  /// Call sites of inlined functions that were inlined themselves: file, line, column to the
  /// outermost.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>,
           std::pair<std::uint32_t, std::uint32_t>>
      inlined_;
};

}  // namespace halfgrad::emulator
