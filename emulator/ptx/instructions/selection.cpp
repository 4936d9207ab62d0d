#include <halfgrad/emulator/ptx/instructions/selection.h>

#include <algorithm>
#include <string>

namespace halfgrad::emulator {

void only_modifiers(const Encoder& encoder, std::initializer_list<std::string_view> known) {
  for (const std::string_view modifier : encoder.statement.modifiers) {
    if (type_named(modifier) != Type::none) continue;
    if (std::find(known.begin(), known.end(), modifier) == known.end()) {
      encoder.unknown("modifier ." + std::string(modifier));
    }
  }
}

void require_operands(const Encoder& encoder, unsigned n) {
  if (encoder.operands() != n) encoder.unknown("expected " + std::to_string(n) + " operands");
}

void execute_with(Encoder& encoder, Execute execute) {
  if (execute == nullptr) encoder.unknown("no such operation on this type");
  encoder.instruction.execute = execute;
}

void uniform_operands(Encoder& encoder, Type type, unsigned sources) {
  require_operands(encoder, sources + 1);
  encoder.destination(0, type);
  for (unsigned i = 1; i <= sources; ++i) encoder.source(i, type);
}

unsigned type_count(const Statement& statement) {
  return static_cast<unsigned>(
      std::count_if(statement.modifiers.begin(), statement.modifiers.end(),
                    [](std::string_view m) { return type_named(m) != Type::none; }));
}

}  // namespace halfgrad::emulator
