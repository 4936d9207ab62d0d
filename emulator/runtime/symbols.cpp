#include <halfgrad/emulator/runtime/symbols.h>

#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/modules.h>

namespace halfgrad::emulator {
namespace {

const Variable* find_symbol(const void* symbol) {
  const DeviceVariable* known = module_table().find_variable(symbol);
  if (known == nullptr) return nullptr;
  auto& variables = known->image->on(current_device()).variables();
  const auto found = variables.find(known->name);
  return found == variables.end() ? nullptr : &found->second;
}

}  // namespace

cudaError_t symbol_range(const void* symbol, std::size_t bytes, std::size_t offset,
                         void** address) {
  const Variable* variable = find_symbol(symbol);
  if (variable == nullptr) return cudaErrorInvalidSymbol;
  if (offset > variable->bytes || bytes > variable->bytes - offset) {
    report_call(FindingKind::out_of_bounds, "copy",
                "bytes " + std::to_string(offset) + " to " + std::to_string(offset + bytes) +
                    " of variable " + variable->name + ", which has " +
                    std::to_string(variable->bytes));
    return cudaErrorInvalidValue;
  }
  *address = reinterpret_cast<void*>(variable->address + offset);
  return cudaSuccess;
}

HALFGRAD_EMULATOR_API cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return api_call("cudaGetSymbolAddress", [&] { return symbol_range(symbol, 0, 0, address); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return api_call("cudaGetSymbolSize", [&] {
    const Variable* variable = find_symbol(symbol);
    if (variable == nullptr) return cudaErrorInvalidSymbol;
    *bytes = variable->bytes;
    return cudaSuccess;
  });
}

}  // namespace halfgrad::emulator
