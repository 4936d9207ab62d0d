#include <halfgrad/emulator/ptx/instructions/memory_form.h>

#include <algorithm>
#include <string>
#include <utility>

namespace halfgrad::emulator {
namespace {

template <class T>
using Named = std::pair<std::string_view, T>;

constexpr Named<Space> kSpaces[] = {{"global", Space::global},          {"shared", Space::shared},
                                    {"shared::cluster", Space::shared}, {"local", Space::local},
                                    {"param", Space::parameter},        {"const", Space::constant}};

// .cv asks for the value in memory each time, and .mmio for exactly one access: as volatile does.
constexpr Named<Order> kOrders[] = {
    {"weak", Order::weak},       {"volatile", Order::volatile_},     {"mmio", Order::volatile_},
    {"cv", Order::volatile_},    {"relaxed", Order::relaxed},        {"acquire", Order::acquire},
    {"release", Order::release}, {"acq_rel", Order::acquire_release}};

constexpr Named<Scope> kScopes[] = {
    {"cta", Scope::cta}, {"cluster", Scope::cluster}, {"gpu", Scope::gpu}, {"sys", Scope::sys}};

constexpr Named<std::uint8_t> kCounts[] = {{"v2", 2}, {"v4", 4}, {"v8", 8}};

constexpr std::string_view kHints[] = {"nc", "ca", "cg", "cs", "lu", "wb", "wt", "unified"};

/// Sets `value` to what `name` means in the table, if it is there.
template <class T, std::size_t N>
bool lookup(const Named<T> (&table)[N], std::string_view name, T& value) {
  const auto found = std::find_if(std::begin(table), std::end(table),
                                  [&](const Named<T>& entry) { return entry.first == name; });
  if (found == std::end(table)) return false;
  value = found->second;
  return true;
}

bool is_hint(std::string_view name) {
  return name.starts_with("L1::") || name.starts_with("L2::") ||
         std::find(std::begin(kHints), std::end(kHints), name) != std::end(kHints);
}

}  // namespace

MemoryForm memory_form(const Encoder& encoder, std::span<const std::string_view> others) {
  MemoryForm form;
  for (const std::string_view name : encoder.statement.modifiers) {
    if (lookup(kScopes, name, form.scope)) {
      form.scope_given = true;
      continue;
    }
    if (lookup(kSpaces, name, form.space) || lookup(kOrders, name, form.order) ||
        lookup(kCounts, name, form.count) || is_hint(name) ||
        std::find(others.begin(), others.end(), name) != others.end()) {
      continue;
    }
    const Type type = type_named(name);
    if (type == Type::none) encoder.unknown("unknown modifier ." + std::string(name));
    form.type = type;
  }
  if (form.order == Order::volatile_ && !form.scope_given) form.scope = Scope::sys;
  return form;
}

Type bits_of(unsigned bytes) {
  switch (bytes) {
    case 1:
      return Type::b8;
    case 2:
      return Type::b16;
    case 4:
      return Type::b32;
    case 16:
      return Type::b128;
    default:
      return Type::b64;
  }
}

void expect_operands_or_policy(const Encoder& encoder, unsigned count) {
  const unsigned given = encoder.operands();
  const bool policy = encoder.statement.has("L2::cache_hint");
  if (given == count + (policy ? 1u : 0u)) return;
  encoder.unknown("expected " + std::to_string(count) + " operands, got " + std::to_string(given));
}

std::span<const Operand> elements_of(const Operand& operand) {
  if (operand.kind == Operand::Kind::vector) return operand.parts;
  return {&operand, 1};
}

unsigned element_register_bytes(const Encoder& encoder, std::span<const Operand> elements,
                                const MemoryForm& form) {
  if (form.type == Type::none || form.type == Type::pred || elements.size() != form.count ||
      bytes_of(form.type) * form.count > 32) {
    encoder.unknown("expected a type and as many registers as the vector has elements");
  }
  unsigned bytes = 0;
  for (const Operand& element : elements) {
    const unsigned own = encoder.register_bytes(element);
    if (own == 0 || own == bytes) continue;
    if (bytes != 0) encoder.unknown("expected registers of one size in a vector");
    bytes = own;
  }
  return bytes != 0 ? bytes : std::max(2u, bytes_of(form.type));
}

}  // namespace halfgrad::emulator
