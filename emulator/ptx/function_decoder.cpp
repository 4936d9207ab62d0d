#include <halfgrad/emulator/ptx/function_decoder.h>

#include <algorithm>

#include <halfgrad/emulator/ptx/encoder.h>
#include <halfgrad/emulator/ptx/families.h>
#include <halfgrad/emulator/ptx/guessed_loads.h>
#include <halfgrad/emulator/ptx/plain_exchanges.h>
#include <halfgrad/emulator/ptx/register_allocation.h>
#include <halfgrad/emulator/ptx/shared_arrays.h>
#include <halfgrad/emulator/ptx/unknown_instruction.h>

namespace halfgrad::emulator {

FunctionDecoder::FunctionDecoder(const ModuleIndex& index, const FunctionEntry& entry,
                                 Function& function, KernelSymbols& symbols)
    : index_(index),
      function_(function),
      symbols_(symbols),
      builder_(function, symbols),
      lexer_(index.text, entry.begin, entry.line),
      parser_(lexer_, builder_.scopes) {
  function_.name = entry.name;
  function_.address = entry.address;
}

void FunctionDecoder::run() {
  head();
  body();
  finish();
}

void FunctionDecoder::body() {
  lexer_.expect("{");
  function_.parameter_bytes = std::max(function_.parameter_bytes, parameter_end_);
  while (true) {
    if (lexer_.at_end()) lexer_.fail("the end of a function");
    if (lexer_.accept("{")) {
      builder_.scopes.open();
      parameter_ends_.push_back(parameter_end_);
    } else if (lexer_.is("}")) {
      if (builder_.scopes.is_outermost()) return;
      lexer_.take();
      builder_.scopes.close();
      parameter_end_ = parameter_ends_.back();
      parameter_ends_.pop_back();
    } else if (lexer_.is("@")) {
      decode(parser_.expect_guarded_statement());
    } else if (!lexer_.is_word()) {
      if (!lexer_.accept(";")) lexer_.fail("an instruction");
    } else if (lexer_.ahead().text[0] == '.') {
      local_directive();
    } else {
      const Token word = lexer_.take();
      if (lexer_.accept(":")) {
        labelled(word);
      } else {
        decode(parser_.expect_statement(word));
      }
    }
  }
}

/// A label of an instruction, or of a table of labels or prototypes.
void FunctionDecoder::labelled(const Token& name) {
  bool added = true;
  if (lexer_.accept(".branchtargets")) {
    std::vector<std::string_view> labels;
    do {
      labels.push_back(lexer_.expect_word("a label"));
    } while (lexer_.accept(","));
    lexer_.expect(";");
    added = builder_.scopes.add_table(name.text, std::move(labels));
  } else if (lexer_.is(".callprototype") || lexer_.is(".calltargets")) {
    lexer_.skip_past(";");
  } else {
    const auto next = static_cast<std::uint32_t>(function_.code.size());
    added = builder_.scopes.add_label(name.text, next);
  }
  if (!added) {
    fail_at_line(name.line, "label " + std::string(name.text.substr(0, 60)) + " stands twice");
  }
}

void FunctionDecoder::decode(Statement statement) {
  const std::uint32_t ptx_line = statement.location.ptx_line;
  statement.location = location_;
  statement.location.ptx_line = ptx_line;
  if (statement.guarded && builder_.slots[statement.guard].bytes != 0) {
    fail_at_line(ptx_line, "expected a predicate after '@'");
  }
  const bool changed = index_.mutant && mutant_kind(statement) == index_.mutant->kind &&
                       index_.mutant->is_at(mutant_place(index_, statement.location));
  Instruction instruction = changed ? decode_mutant(statement) : decode_instruction(statement);
  if (statement.guarded) instruction.guard = statement.guard;
  instruction.guard_negated = statement.guard_negated;
  builder_.add(instruction, std::move(statement));
}

/// The instruction that a mutant has instead of the statement's.
Instruction FunctionDecoder::decode_mutant(Statement statement) {
  const bool left_out = mutate(statement, index_.mutant->kind);
  Instruction instruction = decode_instruction(statement);
  if (!left_out) return instruction;
  builder_.forget_statement();
  Instruction nothing;
  nothing.kind = instruction.kind;
  nothing.execute = [](Execution&, const Instruction&) {};
  return nothing;
}

Instruction FunctionDecoder::decode_instruction(const Statement& statement) {
  const std::size_t jumps = jumps_.size(), calls = function_.calls.size();
  Encoder encoder(builder_, statement);
  try {
    const Decode decode = decode_function(statement.opcode);
    if (decode == nullptr) encoder.unknown("unknown opcode " + std::string(statement.opcode));
    decode(encoder);
    control_flow(encoder);
    return encoder.instruction;
  } catch (const UnknownInstruction& error) {
    builder_.forget_statement();
    jumps_.resize(jumps);
    function_.calls.resize(calls);
    function_.unknown[static_cast<std::uint32_t>(function_.code.size())] = error.what();
    return unknown_instruction();
  }
}

std::optional<SharedArray> FunctionDecoder::shared_array(std::string_view name) const {
  const LocalSymbol* symbol = builder_.scopes.find_symbol(name);
  if (symbol == nullptr) return symbols_.shared_array(name);
  if (symbol->kind != LocalSymbol::Kind::shared) return std::nullopt;
  return SharedArray{std::string(name), symbol->address, symbol->address + symbol->bytes};
}

/// A function without a last `ret` returns at its end.
void FunctionDecoder::finish() {
  Statement end;
  end.text = lexer_.ahead().text;
  end.opcode = "ret";
  end.location = location_;
  end.location.ptx_line = lexer_.ahead().line;
  Instruction ret;
  ret.control = function_.is_kernel ? Control::exit : Control::ret;
  ret.kind = InstructionClass::control;
  builder_.add(ret, std::move(end));
  resolve_jumps();
  relax_guessed_loads(function_);
  mark_plain_exchanges(function_);
  find_shared_arrays(function_, [&](std::string_view name) { return shared_array(name); });
  function_.local_bytes = align_up(function_.local_bytes, local_alignment_);
  function_.parameter_bytes = align_up(function_.parameter_bytes, 16);
  place_registers(builder_);
}

}  // namespace halfgrad::emulator
