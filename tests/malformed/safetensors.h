#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "malformed.h"

/// Files that each break one rule of safetensors.
namespace halfgrad::tests::safetensors_files {

using enum files::FormatCode;

inline Bytes file(std::string_view header, std::size_t data = 0) {
  return little(header.size(), 8) + bytes(header) + zeros(data);
}

/// Returns a file of one tensor with this entry and `data` bytes of data.
inline Bytes entry(const std::string& text, std::size_t data = 0) {
  return file(R"({"a":)" + text + "}", data);
}

inline Bytes shaped(const std::string& dtype, const std::string& shape, const std::string& offsets,
                    std::size_t data) {
  return entry(
      R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}",
      data);
}

inline Bytes two(const std::string& first, const std::string& second, std::size_t data) {
  const auto bytes_at = [](const std::string& name, const std::string& offsets) {
    const auto dash = offsets.find('-');
    const int size = std::stoi(offsets.substr(dash + 1)) - std::stoi(offsets);
    return '"' + name + R"(":{"dtype":"U8","shape":[)" + std::to_string(size) +
           R"(],"data_offsets":[)" + offsets.substr(0, dash) + "," + offsets.substr(dash + 1) +
           "]}";
  };
  return file("{" + bytes_at("a", first) + "," + bytes_at("b", second) + "}", data);
}

inline const std::string kScalar = R"({"dtype":"U8","shape":[],"data_offsets":[0,1]})";

inline std::vector<Malformed> malformed() {
  const Bytes good = entry(kScalar, 1);
  return {
      {"empty", {}, truncated, "8 bytes of header size, got 0"},
      {"seven bytes", zeros(7), truncated},
      {"no header", zeros(8), bad_syntax, "begins with {"},
      {"no header, but data", zeros(16), bad_syntax},
      {"header of 2^64 - 1", little(~0ull, 8) + bytes("{}"), header_too_large},
      {"header of 2^64 - 8, plus 8 wraps", little(~0ull - 7, 8) + bytes("{}"), header_too_large},
      {"header of 2^63", little(1ull << 63, 8) + bytes("{}"), header_too_large},
      {"header of 100000001", little(100'000'001, 8) + bytes("{}"), header_too_large},
      {"header of 100000000, but no such file", little(100'000'000, 8) + bytes("{}"), truncated},
      {"header ends one byte beyond the file", little(3, 8) + bytes("{}"), truncated},
      {"big-endian header size", bytes({0, 0, 0, 0, 0, 0, 0, 2}) + bytes("{}"), header_too_large},
      {"npy file", bytes("\x93NUMPY\x01") + zeros(60), bad_magic},
      {"zip archive", bytes("PK\x03\x04") + zeros(60), bad_magic},
      {"header in Latin-1", file("{\"\xE9\":" + kScalar + "}", 1), bad_text},
      {"overlong UTF-8", file("{\"\xC0\xAF\":" + kScalar + "}", 1), bad_text},
      {"surrogate in UTF-8", file("{\"\xED\xA0\x80\":" + kScalar + "}", 1), bad_text},
      {"beyond U+10FFFF", file("{\"\xF4\x90\x80\x80\":" + kScalar + "}", 1), bad_text},
      {"UTF-8 sequence cut", file("{\"\xE2\x82"), bad_text},
      {"byte order mark", file("\xEF\xBB\xBF{}"), bad_syntax, "begins with {"},
      {"space before the header", file(" {}"), bad_syntax, "begins with {"},
      {"header is an array", file("[]"), bad_syntax, "begins with {"},
      {"header never closed", file("{"), bad_syntax},
      {"comma at the end", file(R"({"a":)" + kScalar + ",}", 1), bad_syntax},
      {"comma missing", file(R"({"a":)" + kScalar + R"("b":)" + kScalar + "}", 1), bad_syntax},
      {"colon missing", file(R"({"a")" + kScalar + "}", 1), bad_syntax},
      {"name without quotes", file("{a:" + kScalar + "}", 1), bad_syntax},
      {"name in single quotes", file("{'a':" + kScalar + "}", 1), bad_syntax},
      {"name is a number", file("{1:" + kScalar + "}", 1), bad_value},
      {"comment", file("{/**/}"), bad_syntax},
      {"text after the header", file("{} x"), bad_syntax, "end of the header"},
      {"second object after the header", file("{}{}"), bad_syntax},
      {"padded with newlines", file("{}\n"), bad_syntax},
      {"padded with zeros", file(std::string_view("{}\0", 3)), bad_syntax},
      {"control character in a name", file("{\"a\nb\":" + kScalar + "}", 1), bad_syntax},
      {"unknown escape", file(R"({"\x":)" + kScalar + "}", 1), bad_syntax},
      {"escape cut", file(R"({"\u12":)" + kScalar + "}", 1), bad_syntax},
      {"high surrogate alone", file(R"({"\ud800":)" + kScalar + "}", 1), bad_syntax},
      {"low surrogate alone", file(R"({"\udc00":)" + kScalar + "}", 1), bad_syntax},
      {"two high surrogates", file(R"({"\ud800\ud800":)" + kScalar + "}", 1), bad_syntax},
      {"string never closed", file(R"({"a)"), bad_syntax},
      {"name twice", file(R"({"a":)" + kScalar + R"(,"a":)" + kScalar + "}", 1), duplicate_name},
      {"name twice, once escaped", file(R"({"a":)" + kScalar + R"(,"\u0061":)" + kScalar + "}", 1),
       duplicate_name},
      {"metadata twice", file(R"({"__metadata__":{},"__metadata__":{}})"), duplicate_name},
      {"key of metadata twice", file(R"({"__metadata__":{"a":"1","a":"2"}})"), duplicate_name},
      {"metadata is a string", file(R"({"__metadata__":"a"})"), bad_value},
      {"metadata with a number", file(R"({"__metadata__":{"a":1}})"), bad_value},
      {"metadata with an object", file(R"({"__metadata__":{"a":{}}})"), bad_value},
      {"metadata null", file(R"({"__metadata__":null})"), bad_value},
      {"entry is a number", entry("1"), bad_value},
      {"entry null", entry("null"), bad_value},
      {"deep nesting", entry(std::string(100'000, '[')), bad_value},
      {"entry without a dtype", entry(R"({"shape":[],"data_offsets":[0,1]})", 1), missing_field},
      {"entry without a shape", entry(R"({"dtype":"U8","data_offsets":[0,1]})", 1), missing_field},
      {"entry without offsets", entry(R"({"dtype":"U8","shape":[]})", 1), missing_field},
      {"empty entry", entry("{}"), missing_field},
      {"dtype twice", entry(R"({"dtype":"U8","dtype":"U8","shape":[],"data_offsets":[0,1]})", 1),
       duplicate_name},
      {"field of another name",
       entry(R"({"dtype":"U8","shape":[],"data_offsets":[0,1],"strides":[]})", 1), unknown_field},
      {"dtype is a number", entry(R"({"dtype":1,"shape":[],"data_offsets":[0,1]})", 1), bad_value},
      {"dtype in lower case", shaped("f32", "[]", "[0,4]", 4), unknown_dtype},
      {"dtype of NumPy", shaped("<f4", "[]", "[0,4]", 4), unknown_dtype},
      {"dtype empty", shaped("", "[]", "[0,4]", 4), unknown_dtype},
      {"unsigned 64 bits", shaped("U64", "[2]", "[0,16]", 16), no_such_dtype, "convert it"},
      {"8-bit floats", shaped("F8_E4M3", "[2]", "[0,2]", 2), no_such_dtype},
      {"complex numbers", shaped("C64", "[1]", "[0,8]", 8), no_such_dtype},
      {"4-bit floats in half a byte", shaped("F4", "[3]", "[0,2]", 2), size_mismatch, "12 bits"},
      {"6-bit floats in half a byte", shaped("F6_E2M3", "[1]", "[0,1]", 1), size_mismatch},
      {"shape is a number", shaped("U8", "1", "[0,1]", 1), bad_value},
      {"shape never closed", entry(R"({"dtype":"U8","shape":[1)"), bad_syntax},
      {"negative size", shaped("U8", "[-1]", "[0,1]", 1), bad_value},
      {"minus zero", shaped("U8", "[-0]", "[0,0]", 0), bad_value},
      {"size with a fraction", shaped("U8", "[1.0]", "[0,1]", 1), bad_value},
      {"size with an exponent", shaped("U8", "[1e3]", "[0,1000]", 1000), bad_value},
      {"size in quotes", shaped("U8", R"(["1"])", "[0,1]", 1), bad_value},
      {"size null", shaped("U8", "[null]", "[0,1]", 1), bad_value},
      {"size nan", shaped("U8", "[NaN]", "[0,1]", 1), bad_syntax},
      {"size with a leading zero", shaped("U8", "[01]", "[0,1]", 1), bad_syntax},
      {"size with a plus", shaped("U8", "[+1]", "[0,1]", 1), bad_syntax},
      {"size of 2^64", shaped("U8", "[18446744073709551616]", "[0,1]", 1), size_overflow},
      {"size of 2^64 - 1", shaped("U8", "[18446744073709551615]", "[0,1]", 1), size_overflow},
      {"product of 2^64 wraps to 0", shaped("U8", "[4294967296,4294967296]", "[0,0]", 0),
       size_overflow},
      {"product wraps to 1 byte", shaped("U8", "[274177,67280421310721]", "[0,1]", 1),
       size_overflow},
      {"bits beyond 2^63", shaped("F32", "[2305843009213693952]", "[0,0]", 0), size_overflow},
      {"beyond 2^63 but for a zero", shaped("U8", "[0,9223372036854775807,3]", "[0,0]", 0),
       size_overflow},
      {"nine dimensions", shaped("U8", "[1,1,1,1,1,1,1,1,1]", "[0,1]", 1), bad_shape},
      {"offsets are a number", shaped("U8", "[1]", "0", 1), bad_value},
      {"one offset", shaped("U8", "[1]", "[1]", 1), bad_offsets},
      {"three offsets", shaped("U8", "[1]", "[0,1,1]", 1), bad_offsets},
      {"no offsets", shaped("U8", "[1]", "[]", 1), bad_offsets},
      {"offsets reversed", shaped("U8", "[1]", "[1,0]", 1), bad_offsets},
      {"negative offset", shaped("U8", "[1]", "[-1,0]", 1), bad_value},
      {"offsets count from the file's start", shaped("U8", "[1]", "[66,67]", 1), truncated},
      {"offset of 2^64 - 1", shaped("U8", "[]", "[18446744073709551614,18446744073709551615]", 1),
       truncated},
      {"fewer bytes than the shape", shaped("F32", "[2]", "[0,4]", 4), size_mismatch},
      {"more bytes than the shape", shaped("F32", "[2]", "[0,12]", 12), size_mismatch},
      {"bytes for an empty shape", shaped("F32", "[0]", "[0,4]", 4), size_mismatch},
      {"no bytes for a scalar", shaped("F32", "[]", "[0,0]", 0), size_mismatch},
      {"data missing", shaped("F32", "[2]", "[0,8]", 0), truncated},
      {"data cut", without_last(good, 1), truncated},
      {"trailing byte", good + zeros(1), trailing_bytes, "1 more bytes"},
      {"file twice", good + good, trailing_bytes},
      {"data without tensors", file("{}", 1), trailing_bytes},
      {"hole before the first", shaped("U8", "[1]", "[1,2]", 2), gap},
      {"hole between two", two("0-1", "2-3", 3), gap},
      {"overlap by one", two("0-2", "1-3", 3), overlap},
      {"the same bytes twice", two("0-2", "0-2", 2), overlap},
      {"one within the other", two("0-4", "1-2", 4), overlap},
      {"truth value of 2", shaped("BOOL", "[2]", "[0,2]", 0) + bytes({1, 2}), bad_value, "0 or 1"},
  };
}

}  // namespace halfgrad::tests::safetensors_files
