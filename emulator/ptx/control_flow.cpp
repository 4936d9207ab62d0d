#include <halfgrad/emulator/ptx/encoder.h>
#include <halfgrad/emulator/ptx/function_decoder.h>

namespace halfgrad::emulator {

/// Completes an instruction whose family has set its Control.
void FunctionDecoder::control_flow(Encoder& encoder) {
  Instruction& instruction = encoder.instruction;
  const auto& operands = encoder.statement.operands;
  switch (instruction.control) {
    case Control::branch:
    case Control::branch_indexed: {
      const bool indexed = instruction.control == Control::branch_indexed;
      if (operands.size() != (indexed ? 2 : 1) || operands.back().kind != Operand::Kind::symbol) {
        encoder.unknown("expected a label");
      }
      if (indexed && instruction.sources == 0) encoder.source(0, Type::u32);
      jumps_.push_back({function_.code.size(), operands.back().name, builder_.scopes.current()});
      break;
    }
    case Control::call:
      call(encoder);
      break;
    case Control::ret:
      if (function_.is_kernel) instruction.control = Control::exit;
      break;
    default:
      break;
  }
}

/// PTX ISA, "call": `call (result), callee, (arguments), prototype;` and its shorter forms.
void FunctionDecoder::call(Encoder& encoder) {
  const auto& operands = encoder.statement.operands;
  std::size_t next = 0;
  const auto list = [&]() -> const Operand* {
    const bool found = next < operands.size() && operands[next].kind == Operand::Kind::vector;
    return found ? &operands[next++] : nullptr;
  };
  Call call;
  if (const Operand* results = list()) call.results = call_parameters(encoder, *results);
  if (next == operands.size()) encoder.unknown("expected a function");
  const Operand& target = operands[next++];
  if (target.kind == Operand::Kind::symbol && target.offset == 0) {
    call.callee = symbols_.function(target.name);
    call.name = call.callee == nullptr ? std::string(target.name) : call.callee->name;
  } else if (target.kind == Operand::Kind::reg) {
    encoder.instruction.sources = encoder.instruction.destinations = 0;
    encoder.source(target, Type::b64);
    call.address = encoder.instruction.source(0);
  } else {
    encoder.unknown("expected a function or a register with its address");
  }
  if (const Operand* arguments = list()) call.arguments = call_parameters(encoder, *arguments);
  encoder.instruction.target = static_cast<std::uint32_t>(function_.calls.size());
  function_.calls.push_back(std::move(call));
}

std::vector<Parameter> FunctionDecoder::call_parameters(const Encoder& encoder,
                                                        const Operand& list) const {
  std::vector<Parameter> parameters;
  for (const Operand& operand : list.parts) {
    const LocalSymbol* symbol =
        operand.kind == Operand::Kind::symbol ? builder_.scopes.find_symbol(operand.name) : nullptr;
    if (symbol == nullptr || symbol->kind != LocalSymbol::Kind::parameter ||
        symbol->address < function_.launch_parameter_bytes) {
      encoder.unknown("a call with an argument that is not a variable in .param space");
    }
    parameters.push_back(symbol->parameter);
  }
  return parameters;
}

void FunctionDecoder::resolve_jumps() {
  for (const Jump& jump : jumps_) {
    Instruction& instruction = function_.code[jump.instruction];
    if (instruction.control == Control::branch) {
      instruction.target = label(jump, jump.name);
      continue;
    }
    const auto* table = builder_.scopes.find_table(jump.name, jump.scope);
    const std::uint32_t line = function_.statements[jump.instruction].location.ptx_line;
    if (table == nullptr) {
      fail_at_line(line, "unknown table of labels " + std::string(jump.name.substr(0, 60)));
    }
    std::vector<std::uint32_t> targets;
    for (const std::string_view name : *table) targets.push_back(label(jump, name));
    instruction.target = static_cast<std::uint32_t>(function_.branch_tables.size());
    function_.branch_tables.push_back(std::move(targets));
  }
}

std::uint32_t FunctionDecoder::label(const Jump& jump, std::string_view name) const {
  const auto found = builder_.scopes.find_label(name, jump.scope);
  if (found) return *found;
  fail_at_line(function_.statements[jump.instruction].location.ptx_line,
               "unknown label " + std::string(name.substr(0, 60)));
}

}  // namespace halfgrad::emulator
