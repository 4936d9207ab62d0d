#include <halfgrad/emulator/ptx/families.h>

#include <stdexcept>
#include <string>
#include <unordered_map>

namespace halfgrad::emulator {
namespace {

std::unordered_map<std::string_view, Decode> all_opcodes() {
  std::unordered_map<std::string_view, Decode> table;
  for (const auto& list :
       {arithmetic_opcodes(), conversion_opcodes(), warp_opcodes(), matrix_opcodes(),
        memory_opcodes(), texture_opcodes(), control_opcodes()}) {
    for (const auto& [opcode, decode] : list) {
      if (!table.emplace(opcode, decode).second) {
        throw std::logic_error("opcode " + std::string(opcode) + " stands in two lists");
      }
    }
  }
  return table;
}

}  // namespace

Decode decode_function(std::string_view opcode) {
  static const std::unordered_map<std::string_view, Decode> table = all_opcodes();
  const auto found = table.find(opcode);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace halfgrad::emulator
