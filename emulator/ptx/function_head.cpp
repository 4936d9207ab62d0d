#include <algorithm>
#include <limits>

#include <halfgrad/emulator/ptx/encoder.h>
#include <halfgrad/emulator/ptx/function_decoder.h>
#include <halfgrad/emulator/ptx/literal.h>

namespace halfgrad::emulator {
namespace {

constexpr std::uint64_t kMostRegisters = 1u << 22;
constexpr std::size_t kMostParameterBytes = 1u << 20;

}  // namespace

/// `.entry name (parameters)`, `.func (results) name (parameters)`, and directives up to the body.
void FunctionDecoder::head() {
  function_.is_kernel = lexer_.take().text == ".entry";
  if (lexer_.accept("(")) formal_parameters(function_.results);
  lexer_.take();  // the name
  if (lexer_.accept("(")) formal_parameters(function_.parameters);
  if (function_.is_kernel) {
    function_.launch_parameter_bytes = parameter_end_;
    parameter_end_ = 0;
  }
  while (!lexer_.is("{")) head_directive();
}

void FunctionDecoder::formal_parameters(std::vector<Parameter>& parameters) {
  while (!lexer_.accept(")")) {
    if (!lexer_.is(".param")) lexer_.fail(".param");
    lexer_.take();
    const Declaration declaration = expect_declaration(lexer_);
    LocalSymbol symbol = add_parameter(declaration);
    parameters.push_back(symbol.parameter);
    builder_.scopes.add_symbol(declaration.name, std::move(symbol));
    if (!lexer_.accept(",") && !lexer_.is(")")) lexer_.fail("',' or ')'");
  }
}

void FunctionDecoder::head_directive() {
  if (lexer_.at_end()) lexer_.fail("the body of a function");
  const auto sizes = [&] {
    std::array<unsigned, 3> result = {1, 1, 1};
    unsigned i = 0;
    do {
      if (i == result.size()) lexer_.fail("at most three sizes");
      result[i++] = static_cast<unsigned>(expect_count(lexer_, 1024, "a number of threads"));
    } while (lexer_.accept(","));
    return result;
  };
  if (lexer_.accept(".maxntid")) {
    const auto [x, y, z] = sizes();
    directives_.max_threads = std::min(1024u, x * y * z);
  } else if (lexer_.accept(".reqntid")) {
    directives_.required_threads = sizes();
    const auto [x, y, z] = directives_.required_threads;
    directives_.max_threads = std::min(1024u, x * y * z);
  } else if (lexer_.accept(".reqnctapercluster")) {
    directives_.required_cluster = sizes();
  } else if (lexer_.accept(".minnctapersm")) {
    directives_.min_blocks =
        static_cast<unsigned>(expect_count(lexer_, 1024, "a number of blocks"));
  } else if (lexer_.accept(".pragma")) {
    lexer_.skip_past(";");
  } else {
    lexer_.take();
  }
}

/// Places a parameter in the parameter memory of the frame, or of the launch while a kernel's head
/// is read.
LocalSymbol FunctionDecoder::add_parameter(const Declaration& declaration) {
  LocalSymbol symbol;
  symbol.kind = LocalSymbol::Kind::parameter;
  symbol.parameter = {std::string(declaration.name),
                      align_up(parameter_end_, declaration.alignment), declaration.bytes,
                      declaration.alignment};
  parameter_end_ = symbol.parameter.offset + declaration.bytes;
  if (parameter_end_ > kMostParameterBytes) lexer_.fail("smaller parameters before this");
  symbol.address = function_.launch_parameter_bytes + symbol.parameter.offset;
  return symbol;
}

/// PTX ISA, "Directives" that stand among the instructions of a function.
void FunctionDecoder::local_directive() {
  const Token word = lexer_.take();
  if (word.text == ".reg") {
    register_directive();
  } else if (word.text == ".loc") {
    location_directive();
  } else if (word.text == ".local" || word.text == ".shared" || word.text == ".param") {
    variable_directive(word.text);
  } else if (word.text == ".extern") {
    if (!lexer_.is(".shared")) lexer_.fail(".shared");
    variable_directive(lexer_.take().text);
  } else if (word.text == ".pragma") {
    lexer_.skip_past(";");
  } else {
    fail_at_line(word.line, "expected an instruction or a directive of a function, got '" +
                                std::string(word.text.substr(0, 60)) + "'");
  }
}

/// `.reg .b32 %r<10>, x;`
void FunctionDecoder::register_directive() {
  if (!lexer_.is_word() || lexer_.ahead().text[0] != '.') lexer_.fail("a type");
  const Type type = type_named(lexer_.ahead().text.substr(1));
  if (type == Type::none) lexer_.fail("the type of a scalar register");
  lexer_.take();
  do {
    const std::string_view name = lexer_.expect_word("the name of a register");
    const bool range = lexer_.accept("<");
    const auto count = range ? expect_count(lexer_, kMostRegisters, "a number of registers") : 1;
    if (range) lexer_.expect(">");
    if (builder_.slots.size() + count > kMostRegisters) lexer_.fail("fewer registers before this");
    const auto first = builder_.add_registers(slot_bytes(type), static_cast<std::uint32_t>(count));
    function_.register_count += count;
    if (range) {
      builder_.scopes.add_registers(name, first, static_cast<std::uint32_t>(count));
    } else {
      builder_.scopes.add_register(name, first);
    }
  } while (lexer_.accept(","));
  lexer_.expect(";");
}

void FunctionDecoder::variable_directive(std::string_view space) {
  expect_declarations(lexer_, [&](const Declaration& declaration) {
    LocalSymbol symbol;
    if (space == ".param") {
      symbol = add_parameter(declaration);
      function_.parameter_bytes = std::max(function_.parameter_bytes, parameter_end_);
    } else if (space == ".local") {
      symbol.kind = LocalSymbol::Kind::local;
      symbol.address = align_up(function_.local_bytes, declaration.alignment);
      function_.local_bytes = symbol.address + declaration.bytes;
      if (function_.local_bytes > std::numeric_limits<std::uint32_t>::max()) {
        lexer_.fail("fewer local variables before this");
      }
      local_alignment_ = std::max(local_alignment_, declaration.alignment);
    } else if (declaration.bytes == 0) {
      symbol.kind = LocalSymbol::Kind::dynamic_shared;
      symbols_.add_dynamic_shared(declaration.alignment);
    } else {
      symbol.kind = LocalSymbol::Kind::shared;
      symbol.address = symbols_.add_shared(declaration.bytes, declaration.alignment);
      symbol.bytes = declaration.bytes;
    }
    builder_.scopes.add_symbol(declaration.name, std::move(symbol));
  });
}

/// `.loc 1 20 5`, and of an inlined function `, function_name $L__info_string0, inlined_at 1 40 9`.
void FunctionDecoder::location_directive() {
  const auto number = [&] {
    return static_cast<std::uint32_t>(expect_count(lexer_, 0xffffffff, "a number"));
  };
  Location location;
  location.file = number();
  location.line = number();
  const std::uint32_t column = number();
  while (lexer_.accept(",")) {
    if (lexer_.accept("function_name")) {
      lexer_.take();
      if (lexer_.accept("+")) lexer_.take();
    } else if (lexer_.accept("inlined_at")) {
      location.inlined_file = number();
      location.inlined_line = number();
      const std::tuple site(location.inlined_file, location.inlined_line, number());
      if (const auto outer = inlined_.find(site); outer != inlined_.end()) {
        std::tie(location.inlined_file, location.inlined_line) = outer->second;
      }
      inlined_[{location.file, location.line, column}] = {location.inlined_file,
                                                          location.inlined_line};
    } else {
      lexer_.fail("function_name or inlined_at");
    }
  }
  location_ = location;
}

}  // namespace halfgrad::emulator
