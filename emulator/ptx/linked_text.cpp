// PTX ISA, "Linking Directives": the texts of a program's sources become one module.
#include <halfgrad/emulator/ptx/linked_text.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>

#include <halfgrad/emulator/ptx/module_index.h>

namespace halfgrad::emulator {
namespace {

using Names = std::set<std::string, std::less<>>;
using Renames = std::map<std::string, std::string, std::less<>>;

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

/// Finds the symbols that a text declares at module level, and which of them are its own.
class SymbolReader {
 public:
  explicit SymbolReader(std::string_view text) : lexer_(text) {}

  void run() {
    while (!lexer_.at_end()) {
      const std::string_view word = lexer_.take().text;
      if (word == ".visible" || word == ".weak" || word == ".extern" || word == ".common") {
        shared_ = true;
      } else if (word == ".entry" || word == ".func") {
        function(word == ".entry");
      } else if (word == ".global" || word == ".const" || word == ".shared") {
        variables();
      } else if (word == "{") {
        section();
      }
    }
  }

  Names all, own;

 private:
  void add(std::string_view name, bool shared) {
    all.emplace(name);
    if (!shared) own.emplace(name);
    shared_ = false;
  }

  void function(bool kernel) {
    if (!kernel && lexer_.accept("(")) lexer_.skip_past(")");
    // The host names kernels, so they keep their names.
    add(lexer_.expect_word("the name of a function"), shared_ || kernel);
    while (!lexer_.is("{") && !lexer_.is(";")) {
      if (lexer_.at_end()) lexer_.fail("the body of a function");
      lexer_.take();
    }
    if (!lexer_.accept(";")) lexer_.skip_braces();
  }

  void variables() {
    const bool shared = shared_;
    expect_declarations(lexer_, [&](Declaration& declaration) {
      Variable variable;
      const std::string name(declaration.name);
      if (lexer_.accept("=")) expect_initial_value(lexer_, declaration, variable);
      add(name, shared);
    });
  }

  /// The braces of a `.section`.
  void section() {
    for (int depth = 1; depth > 0 && !lexer_.at_end();) {
      const std::string_view word = lexer_.take().text;
      depth += word == "{" ? 1 : word == "}" ? -1 : 0;
    }
  }

  Lexer lexer_;
  bool shared_ = false;
};

/// Copies a text with other symbols and other indices of files.
class TextCopy {
 public:
  TextCopy(std::string_view from, const Renames& renames, std::uint32_t first_file)
      : from_(from), renames_(renames), first_file_(first_file) {}

  void run(std::string& to) {
    while (at_ < from_.size()) {
      if (is_name_character(from_[at_])) {
        word(to);
      } else if (from_[at_] == '"') {
        copy_to(std::min(from_.find('"', at_ + 1), from_.size() - 1) + 1, to);
      } else if (from_.substr(at_, 2) == "//") {
        copy_to(std::min(from_.find('\n', at_), from_.size()), to);
      } else {
        copy_to(at_ + 1, to);
      }
    }
  }

  std::uint32_t files = 0;  ///< highest file number of the text

 private:
  void copy_to(std::size_t end, std::string& to) {
    to.append(from_.substr(at_, end - at_));
    at_ = end;
  }

  void word(std::string& to) {
    std::size_t end = at_;
    while (end < from_.size() && is_name_character(from_[end])) ++end;
    const std::string_view name = from_.substr(at_, end - at_);
    const char before = at_ == 0 ? ' ' : from_[at_ - 1];
    const bool directive = before == '.';
    if (number_follows_ && std::isdigit(static_cast<unsigned char>(name[0])) != 0) {
      const auto number =
          static_cast<std::uint32_t>(std::strtoul(std::string(name).c_str(), nullptr, 10));
      files = std::max(files, number);
      to += std::to_string(number + first_file_);
    } else if (const auto found = renames_.find(name);
               found != renames_.end() && !directive && before != '%') {
      to += found->second;
    } else {
      to += name;
    }
    number_follows_ = (directive && (name == "loc" || name == "file")) || name == "inlined_at";
    at_ = end;
  }

  std::string_view from_;
  const Renames& renames_;
  std::uint32_t first_file_;
  std::size_t at_ = 0;
  bool number_follows_ = false;
};

}  // namespace

std::string link_texts(std::span<const std::string> texts) {
  if (texts.size() == 1) return texts[0];
  std::string linked;
  Names known;
  std::uint32_t files = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    SymbolReader symbols(texts[i]);
    symbols.run();
    Renames renames;
    for (const std::string& name : symbols.own) {
      if (known.count(name) != 0) renames[name] = name + "$" + std::to_string(i);
    }
    known.merge(symbols.all);
    TextCopy copy(texts[i], renames, files);
    copy.run(linked);
    linked += '\n';
    files += copy.files;
  }
  return linked;
}

}  // namespace halfgrad::emulator
