#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <halfgrad/emulator/ptx/function.h>

namespace halfgrad::emulator {

/// A variable that a function declares.
struct LocalSymbol {
  enum class Kind : std::uint8_t { parameter, local, shared, dynamic_shared };
  Kind kind = Kind::local;
  /// Address in its state space: Parameter::offset counted from launch_parameter_bytes for the
  /// parameters of functions and calls, offset in the frame's local memory, or in shared memory.
  std::uint64_t address = 0;
  Parameter parameter;    ///< for Kind::parameter, with the offset in its own memory
  std::size_t bytes = 0;  ///< for Kind::shared
};

/// The names in a function: blocks `{ }` nest, and names of inner blocks hide those of outer ones.
class Scopes {
 public:
  Scopes() { open(); }

  void open();
  void close();
  /// Number of the innermost open scope, for the finders.
  std::size_t current() const { return current_; }
  bool is_outermost() const { return current_ == 0; }

  void add_register(std::string_view name, std::uint32_t index);
  /// `%r<100>` declares %r0 to %r99, with successive indices.
  void add_registers(std::string_view prefix, std::uint32_t first, std::uint32_t count);
  void add_symbol(std::string_view name, LocalSymbol symbol);
  /// Labels and tables return false if the scope has one of that name.
  bool add_label(std::string_view name, std::uint32_t instruction);
  bool add_table(std::string_view name, std::vector<std::string_view> labels);

  std::optional<std::uint32_t> find_register(std::string_view name) const;
  const LocalSymbol* find_symbol(std::string_view name) const;
  std::optional<std::uint32_t> find_label(std::string_view name, std::size_t scope) const;
  const std::vector<std::string_view>* find_table(std::string_view name, std::size_t scope) const;

 private:
  struct Range {
    std::string_view prefix;
    std::uint32_t first, count;
  };
  struct Scope {
    std::size_t parent = kNone;
    std::vector<Range> ranges;
    std::unordered_map<std::string_view, std::uint32_t> registers;
    std::unordered_map<std::string_view, LocalSymbol> symbols;
    std::unordered_map<std::string_view, std::uint32_t> labels;
    std::unordered_map<std::string_view, std::vector<std::string_view>> tables;
  };
  static constexpr std::size_t kNone = ~std::size_t{0};

  /// The first result of `find` that is not empty, from scope `from` outwards.
  template <class Found, class Find>
  Found search(std::size_t from, Find find) const;

  std::vector<Scope> scopes_;
  std::size_t current_ = kNone;
};

}  // namespace halfgrad::emulator
