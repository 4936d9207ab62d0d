#include <halfgrad/emulator/ptx/scopes.h>

namespace halfgrad::emulator {
namespace {

/// The number after the prefix, if the name is one of a range's.
std::optional<std::uint32_t> number_after(std::string_view prefix, std::string_view name,
                                          std::uint32_t count) {
  if (name.size() <= prefix.size() || name.substr(0, prefix.size()) != prefix) return std::nullopt;
  const std::string_view digits = name.substr(prefix.size());
  if (digits.size() > 9 || (digits[0] == '0' && digits.size() > 1)) return std::nullopt;
  std::uint32_t number = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<std::uint32_t>(c - '0');
  }
  if (number >= count) return std::nullopt;
  return number;
}

template <class Map>
auto find_in(const Map& map, std::string_view name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : &found->second;
}

std::optional<std::uint32_t> value_of(const std::uint32_t* found) {
  if (found == nullptr) return std::nullopt;
  return *found;
}

}  // namespace

void Scopes::open() {
  scopes_.emplace_back();
  scopes_.back().parent = current_;
  current_ = scopes_.size() - 1;
}

void Scopes::close() { current_ = scopes_[current_].parent; }

void Scopes::add_register(std::string_view name, std::uint32_t index) {
  scopes_[current_].registers.insert_or_assign(name, index);
}

void Scopes::add_registers(std::string_view prefix, std::uint32_t first, std::uint32_t count) {
  scopes_[current_].ranges.push_back({prefix, first, count});
}

void Scopes::add_symbol(std::string_view name, LocalSymbol symbol) {
  scopes_[current_].symbols.insert_or_assign(name, std::move(symbol));
}

bool Scopes::add_label(std::string_view name, std::uint32_t instruction) {
  return scopes_[current_].labels.emplace(name, instruction).second;
}

bool Scopes::add_table(std::string_view name, std::vector<std::string_view> labels) {
  return scopes_[current_].tables.emplace(name, std::move(labels)).second;
}

template <class Found, class Find>
Found Scopes::search(std::size_t from, Find find) const {
  for (std::size_t i = from; i != kNone; i = scopes_[i].parent) {
    if (const Found found = find(scopes_[i])) return found;
  }
  return {};
}

std::optional<std::uint32_t> Scopes::find_register(std::string_view name) const {
  using Found = std::optional<std::uint32_t>;
  return search<Found>(current_, [&](const Scope& scope) -> Found {
    for (const Range& range : scope.ranges) {
      if (const auto number = number_after(range.prefix, name, range.count)) {
        return range.first + *number;
      }
    }
    if (scope.registers.empty()) return std::nullopt;
    return value_of(find_in(scope.registers, name));
  });
}

const LocalSymbol* Scopes::find_symbol(std::string_view name) const {
  return search<const LocalSymbol*>(
      current_, [&](const Scope& scope) { return find_in(scope.symbols, name); });
}

std::optional<std::uint32_t> Scopes::find_label(std::string_view name, std::size_t from) const {
  return search<std::optional<std::uint32_t>>(
      from, [&](const Scope& scope) { return value_of(find_in(scope.labels, name)); });
}

const std::vector<std::string_view>* Scopes::find_table(std::string_view name,
                                                        std::size_t from) const {
  return search<const std::vector<std::string_view>*>(
      from, [&](const Scope& scope) { return find_in(scope.tables, name); });
}

}  // namespace halfgrad::emulator
