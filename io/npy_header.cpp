#include <halfgrad/io/npy_header.h>

#include <algorithm>
#include <set>
#include <string_view>

#include <halfgrad/core/fail.h>
#include <halfgrad/files/checked_size.h>
#include <halfgrad/io/text_cursor.h>
#include <halfgrad/io/utf8.h>

namespace halfgrad::io::detail {
namespace {

using files::ByteReader;
using files::FormatCode;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::uint32_t kMaxNpyHeader = 10'000;  // NumPy's max_header_size
constexpr std::size_t kAlignment = 64;           // bytes; alignment of the data in the file
constexpr std::size_t kFirstSizeDigits = 21;     // NumPy pads the first size to this width

struct NpyType {
  std::string_view code;
  DType dtype;
  std::optional<Unsigned> stored = std::nullopt;
};

/// A dtype that is written comes before the unsigned integers that are read as it.
constexpr NpyType kNpyTypes[] = {{"f8", kFloat64},
                                 {"f4", kFloat32},
                                 {"f2", kHalf},
                                 {"i8", kInt64},
                                 {"i4", kInt32},
                                 {"i2", kInt16},
                                 {"i1", kInt8},
                                 {"u1", kUInt8},
                                 {"b1", kBool},
                                 {"u2", kInt64, Unsigned::u16},
                                 {"u4", kInt64, Unsigned::u32}};

/// Reads Python literals: the part of the grammar that .npy headers use.
class LiteralReader : public TextCursor {
 public:
  using TextCursor::TextCursor;

  /// Reads a string in single or double quotes. Fails at an escape, which no header needs.
  std::string string(const char* what) {
    skip_space();
    const char quote = rest().empty() ? '\0' : rest().front();
    if (quote != '\'' && quote != '"') refuse_value(what);
    const std::size_t length = rest().substr(1).find_first_of(quote == '"' ? "\"\\\n" : "'\\\n");
    if (length == std::string_view::npos || rest()[1 + length] != quote) {
      fail(FormatCode::bad_syntax, "a string that ends, without escapes");
    }
    std::string result(rest().substr(1, length));
    advance(length + 2);
    return result;
  }

  bool boolean() {
    skip_space();
    for (const std::string_view word : {"True", "False"}) {
      if (!rest().starts_with(word)) continue;
      advance(word.size());
      return word == "True";
    }
    refuse_value("True or False");
  }

  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> values;
    if (!skip('(')) refuse_value("a tuple of sizes");
    bool ends_in_comma = true;
    while (!skip(')')) {
      if (!ends_in_comma) fail(FormatCode::bad_syntax, "\",\" or \")\"");
      if (!at_digit()) refuse_size();
      values.push_back(digits());
      ends_in_comma = skip(',');
    }
    if (values.size() == 1 && !ends_in_comma) {
      fail(FormatCode::bad_value, "a tuple; a tuple of one size is written (3,)");
    }
    return values;
  }

 private:
  [[noreturn]] void refuse_value(const char* what) {
    const bool is_other_value = rest().find_first_of("'\"[({-0123456789TFN") == 0;
    fail(is_other_value ? FormatCode::bad_value : FormatCode::bad_syntax, what);
  }
  [[noreturn]] void refuse_size() {
    if (rest().starts_with('-')) fail(FormatCode::bad_shape, "sizes of at least 0");
    refuse_value("a size");
  }
};

/// Reads the value of 'descr', such as '<f4': byte order, kind, number of bytes.
void read_type(LiteralReader& text, NpyHeader& header) {
  const std::uint64_t at = text.position();
  if (text.skip('[') || text.skip('(')) {
    text.input().fail_at(at, FormatCode::no_such_dtype, "a plain type", "a structured one",
                         "save each field as an array of its own");
  }
  const std::string descr = text.string("a type's name");
  const std::string_view order = std::string_view(descr).substr(0, 1);
  const std::string_view code = std::string_view(descr).substr(order.size());
  const auto refuse = [&](FormatCode why, const std::string& fix) {
    text.input().fail_at(at, why, "<, > or | and f8, f4, f2, i8, i4, i2, i1, u4, u2, u1 or b1",
                         '\'' + descr + '\'', fix);
  };
  if (descr.empty() || std::string_view("<>=|").find(order) == std::string_view::npos) {
    refuse(FormatCode::unknown_dtype, "");
  }
  if (code.starts_with('O')) {
    refuse(FormatCode::unsafe_dtype,
           "its elements are pickled Python objects; save it with a numeric dtype");
  }
  const auto* type = std::ranges::find(kNpyTypes, code, &NpyType::code);
  if (type == std::end(kNpyTypes)) {
    const bool is_known = std::string_view("biufcmMSUVa").find(code.substr(0, 1)) != code.npos &&
                          !code.empty() &&
                          code.substr(1).find_first_not_of("0123456789") == code.npos;
    refuse(is_known ? FormatCode::no_such_dtype : FormatCode::unknown_dtype,
           code.starts_with('V') ? "bfloat16 and 8-bit floats have no .npy type; use safetensors"
                                 : "convert it with .astype before saving");
  }
  header.dtype = type->dtype;
  header.stored = type->stored;
  if (order == "|" && stored_size(header.dtype, header.stored) > 1) {
    refuse(FormatCode::bad_value, "| says that there is no byte order");
  }
  header.order = order == ">" ? std::endian::big : std::endian::little;
}

void read_dict(LiteralReader& text, NpyHeader& header) {
  std::set<std::string> keys;
  const std::uint64_t start = text.position();
  text.expect('{');
  bool after_comma = true;
  while (!text.skip('}')) {
    if (!after_comma) text.fail(FormatCode::bad_syntax, "\",\" or \"}\"");
    const std::uint64_t at = text.position();
    const std::string key = text.string("a key");
    text.expect(':');
    if (!keys.insert(key).second) {
      text.input().fail_at(at, FormatCode::duplicate_name, "each key once", '\'' + key + "' twice");
    }
    if (key == "descr") {
      read_type(text, header);
    } else if (key == "fortran_order") {
      header.fortran_order = text.boolean();
    } else if (key == "shape") {
      header.shape = text.tuple();
    } else {
      text.input().fail_at(at, FormatCode::unknown_field, "descr, fortran_order or shape",
                           '\'' + key + '\'');
    }
    after_comma = text.skip(',');
  }
  if (keys.size() != 3) {
    text.input().fail_at(start, FormatCode::missing_field, "descr, fortran_order and shape",
                         "a header without one of them");
  }
}

std::uint32_t read_header_size(ByteReader& input, int major) {
  if (major == 1) return input.read_integer<std::uint16_t>(std::endian::little, "header size");
  return input.read_integer<std::uint32_t>(std::endian::little, "header size");
}

/// Returns the size of the data in bytes; the rest of the file must have exactly this size.
std::uint64_t checked_data_size(const NpyHeader& header, const ByteReader& input) {
  const auto size = files::checked_size(header.shape, stored_size(header.dtype, header.stored));
  if (!size) {
    input.fail(FormatCode::size_overflow, "a shape of fewer than 2^63 bytes", "a larger one");
  }
  const std::string expected = std::to_string(*size) + " bytes of data";
  const std::string got = std::to_string(input.limit());
  if (*size > input.limit()) input.fail(FormatCode::truncated, expected, got);
  if (*size < input.limit()) {
    input.fail(FormatCode::trailing_bytes, expected, got, "a .npy file holds one array");
  }
  return *size;
}

}  // namespace

NpyHeader parse_npy_header(ByteReader& input) {
  char magic[kMagic.size()];
  input.read(std::as_writable_bytes(std::span(magic)), "magic string");
  if (std::string_view(magic, kMagic.size()) != kMagic) {
    input.fail_at(0, FormatCode::bad_magic, "\\x93NUMPY", "other bytes");
  }
  const int major = input.read_integer<std::uint8_t>(std::endian::little, "version");
  const int minor = input.read_integer<std::uint8_t>(std::endian::little, "version");
  if (major < 1 || major > 3 || minor != 0) {
    input.fail_at(6, FormatCode::unsupported_version, "version 1.0, 2.0 or 3.0",
                  std::to_string(major) + "." + std::to_string(minor));
  }
  const std::uint32_t size = read_header_size(input, major);
  if (size > kMaxNpyHeader) {
    input.fail(FormatCode::header_too_large, "a header of at most 10000 bytes",
               std::to_string(size));
  }
  const std::uint64_t start = input.position();
  std::string text(size, '\0');
  input.read(std::as_writable_bytes(std::span(text)), "header");
  if (const std::size_t valid = valid_utf8_prefix(text); major == 3 && valid < size) {
    input.fail_at(start + valid, FormatCode::bad_text, "UTF-8", "other bytes");
  }
  if (!text.ends_with('\n')) {
    input.fail(FormatCode::bad_syntax, "a header that ends in a newline", "another end");
  }
  NpyHeader header{.data_start = input.position()};
  LiteralReader literal(text, input, start);
  read_dict(literal, header);
  literal.expect_end(" \n");
  header.data_size = checked_data_size(header, input);
  return header;
}

std::string npy_descr(DType dtype) {
  const auto* type = std::ranges::find(kNpyTypes, dtype, &NpyType::dtype);
  if (type == std::end(kNpyTypes)) {
    halfgrad::detail::fail(
        "save_npy", "expected a type that NumPy has, got {}; save it with save_safetensors", dtype);
  }
  return (item_size(dtype) == 1 ? "|" : "<") + std::string(type->code);
}

std::string format_npy_header(DType dtype, std::span<const std::int64_t> shape) {
  std::string sizes;
  for (const std::int64_t size : shape) sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  if (shape.size() == 1) sizes += ",";
  std::string text =
      "{'descr': '" + npy_descr(dtype) + "', 'fortran_order': False, 'shape': (" + sizes + "), }";
  if (!shape.empty()) text.append(kFirstSizeDigits - std::to_string(shape[0]).size(), ' ');
  constexpr std::size_t kBefore = kMagic.size() + 2 + 2;
  text.append(kAlignment - (kBefore + text.size() + 1) % kAlignment, ' ');
  text += '\n';
  std::string size(2, '\0');
  files::store(static_cast<std::uint16_t>(text.size()), reinterpret_cast<std::byte*>(size.data()),
               std::endian::little);
  return std::string(kMagic) + std::string("\1\0", 2) + size + text;
}

}  // namespace halfgrad::io::detail
