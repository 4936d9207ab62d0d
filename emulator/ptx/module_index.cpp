#include <halfgrad/emulator/ptx/module_index.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include <halfgrad/emulator/ptx/literal.h>

namespace halfgrad::emulator {
namespace {

/// Functions have addresses that no allocation has, and that differ between modules.
std::uint64_t next_function_address() {
  static std::atomic<std::uint64_t> next{0x00f0'0000'0000'0010};
  return next.fetch_add(16);
}

/// PTX ISA, "Directives" of a module.
class Indexer {
 public:
  explicit Indexer(ModuleIndex& index) : index_(index), lexer_(index.text) {}

  void run() {
    while (!lexer_.at_end()) {
      if (!lexer_.is_word()) lexer_.fail("a directive");
      directive();
    }
  }

 private:
  void directive() {
    const Token word = lexer_.take();
    const std::string_view name = word.text;
    if (name == ".version") {
      lexer_.take();
    } else if (name == ".target") {
      target();
    } else if (name == ".address_size") {
      if (!lexer_.is("64")) lexer_.fail("64, the only address size that is supported");
      lexer_.take();
    } else if (name == ".file") {
      file();
    } else if (name == ".section") {
      while (!lexer_.is("{") && !lexer_.at_end()) lexer_.take();
      lexer_.skip_braces();
    } else if (name == ".pragma" || name == ".tex") {
      lexer_.skip_past(";");
    } else if (name == ".alias") {
      alias();
    } else if (name == ".extern") {
      external_ = true;
    } else if (name == ".weak") {
      weak_ = true;
    } else if (name == ".entry" || name == ".func") {
      function(word);
    } else if (name == ".global" || name == ".const") {
      variables(name == ".const");
    } else if (name == ".shared") {
      shared();
    } else if (name != ".visible" && name != ".common") {
      fail_at_line(word.line,
                   "expected a directive, got '" + std::string(name.substr(0, 60)) + "'");
    }
  }

  /// `.target sm_90a, texmode_independent`.
  void target() {
    do {
      const std::string_view name = lexer_.expect_word("a target");
      if (name.substr(0, 3) != "sm_") continue;
      unsigned number = 0;
      for (const char c : name.substr(3, 4)) {
        if (c < '0' || c > '9') break;
        number = number * 10 + static_cast<unsigned>(c - '0');
      }
      index_.target = std::max(index_.target, number);  // linked texts have several
    } while (lexer_.accept(","));
  }

  /// `.file 1 "path"`, and optionally a time and a size.
  void file() {
    const auto number = static_cast<std::uint32_t>(expect_count(lexer_, 1u << 30, "a file number"));
    if (lexer_.ahead().kind != TokenKind::string) lexer_.fail("a path in quotes");
    const std::string_view quoted = lexer_.take().text;
    index_.files[number] =
        quoted.size() < 2 ? "?" : std::string(quoted.substr(1, quoted.size() - 2));
    while (lexer_.accept(",")) lexer_.take();
  }

  /// `.alias name, function;`
  void alias() {
    const std::string name(lexer_.expect_word("a name"));
    lexer_.expect(",");
    index_.aliases[name] = std::string(lexer_.expect_word("a function"));
    lexer_.expect(";");
  }

  void function(const Token& directive) {
    external_ = false;
    const bool weak = std::exchange(weak_, false);
    if (directive.text == ".func" && lexer_.accept("(")) lexer_.skip_past(")");
    const std::string name(lexer_.expect_word("the name of a function"));
    FunctionEntry& entry = index_.functions[name];
    if (entry.address == 0) entry.address = next_function_address();
    entry.name = name;
    entry.is_kernel = directive.text == ".entry";
    while (!lexer_.is("{") && !lexer_.is(";")) {
      if (lexer_.at_end()) lexer_.fail("the body of a function");
      if (lexer_.accept(".pragma")) {
        lexer_.skip_past(";");
      } else {
        lexer_.take();
      }
    }
    if (lexer_.accept(";")) return;
    if (entry.defined && weak) return lexer_.skip_braces();
    if (entry.defined) fail_at_line(directive.line, "function " + name + " has two bodies");
    entry.defined = true;
    entry.begin = directive.begin;
    entry.line = directive.line;
    lexer_.skip_braces();
  }

  void variables(bool constant) {
    expect_declarations(lexer_, [&](Declaration& declaration) {
      Variable variable;
      variable.name = std::string(declaration.name);
      variable.constant = constant;
      if (lexer_.accept("=")) expect_initial_value(lexer_, declaration, variable);
      variable.managed = declaration.managed;
      variable.bytes = declaration.bytes;
      variable.alignment = declaration.alignment;
      variable.external = external_;
      const auto known = index_.variables.find(variable.name);
      if (known == index_.variables.end() || known->second.external) {
        index_.variables[variable.name] = std::move(variable);
      }
    });
    external_ = weak_ = false;
  }

  void shared() {
    expect_declarations(lexer_, [&](const Declaration& declaration) {
      index_.shared[std::string(declaration.name)] = {
          declaration.bytes, declaration.alignment,
          declaration.unsized || (external_ && declaration.bytes == 0)};
    });
    external_ = weak_ = false;
  }

  ModuleIndex& index_;
  Lexer lexer_;
  bool external_ = false;
  bool weak_ = false;  ///< other texts linked to this one may define the symbol too
};

}  // namespace

const FunctionEntry* ModuleIndex::function(std::string_view name) const {
  const auto alias = aliases.find(name);
  const auto found = functions.find(alias == aliases.end() ? name : alias->second);
  return found == functions.end() ? nullptr : &found->second;
}

void index_module(ModuleIndex& index) { Indexer(index).run(); }

}  // namespace halfgrad::emulator
