#pragma once

#include <string>
#include <vector>

#include "malformed.h"

/// Files that each break one rule of .npy.
namespace halfgrad::tests::npy_files {

using enum files::FormatCode;

inline Bytes versioned(int major, int minor, const std::string& dict, std::size_t data) {
  return bytes("\x93NUMPY") + bytes({major, minor}) + little(dict.size(), major == 1 ? 2 : 4) +
         bytes(dict) + zeros(data);
}

inline Bytes npy(const std::string& dict, std::size_t data = 0) {
  return versioned(1, 0, dict + '\n', data);
}

inline Bytes described(const std::string& descr, std::size_t data = 0) {
  return npy("{'descr': " + descr + ", 'fortran_order': False, 'shape': (1,)}", data);
}

inline Bytes shaped(const std::string& shape, std::size_t data = 0) {
  return npy("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}", data);
}

inline std::vector<Malformed> malformed() {
  const Bytes good = shaped("(1,)", 4);
  const std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': ()}";
  return {
      {"empty", {}, truncated, "6 bytes of magic string, got 0"},
      {"magic cut", bytes("\x93NUM"), truncated},
      {"magic alone", bytes("\x93NUMPY"), truncated},
      {"magic in lower case", bytes("\x93numpy") + zeros(20), bad_magic},
      {"magic without its first byte", bytes("NUMPY\1") + zeros(20), bad_magic},
      {"text", bytes("1.0,2.0,3.0\n"), bad_magic},
      {"zip archive", bytes("PK\x03\x04") + zeros(20), bad_magic},
      {"pickle", bytes("\x80\x04\x95") + zeros(20), bad_magic},
      {"version 0.0", versioned(0, 0, dict + "\n", 4), unsupported_version},
      {"version 4.0", versioned(4, 0, dict + "\n", 4), unsupported_version, "got 4.0"},
      {"version 1.1", versioned(1, 1, dict + "\n", 4), unsupported_version},
      {"version 255.255", versioned(255, 255, dict + "\n", 4), unsupported_version},
      {"minor version missing", bytes("\x93NUMPY\1"), truncated},
      {"header size missing", bytes("\x93NUMPY") + bytes({1, 0}), truncated},
      {"header size cut", bytes("\x93NUMPY") + bytes({1, 0, 20}), truncated},
      {"header size cut in version 2", bytes("\x93NUMPY") + bytes({2, 0, 20, 0, 0}), truncated},
      {"header of 2^32 - 1", bytes("\x93NUMPY") + bytes({2, 0, 255, 255, 255, 255}),
       header_too_large},
      {"header of 10001", npy(dict + std::string(10'001 - dict.size() - 1, ' '), 4),
       header_too_large},
      {"header of 65535", bytes("\x93NUMPY") + bytes({1, 0, 255, 255}), header_too_large},
      {"header beyond the end", bytes("\x93NUMPY") + bytes({1, 0, 100, 0}) + zeros(99), truncated},
      {"header empty", bytes("\x93NUMPY") + bytes({1, 0, 0, 0}), bad_syntax, "newline"},
      {"no newline", versioned(1, 0, dict + " ", 4), bad_syntax, "newline"},
      {"version 3 in Latin-1", versioned(3, 0, "{'\xE9'}\n", 0), bad_text},
      {"version 1 in Latin-1", versioned(1, 0, "{'\xE9': 1}\n", 0), unknown_field},
      {"dict is a list", npy("[1]"), bad_syntax},
      {"dict never closed", npy("{'descr': '<f4'"), bad_syntax},
      {"text after the dict", npy(dict + " x", 4), bad_syntax, "end of the header"},
      {"zeros after the dict", npy(dict + std::string(3, '\0'), 4), bad_syntax},
      {"two dicts", npy(dict + dict, 4), bad_syntax},
      {"comma missing", npy("{'descr': '<f4' 'shape': ()}"), bad_syntax},
      {"two commas", npy("{'descr': '<f4',, 'shape': ()}"), bad_syntax},
      {"colon missing", npy("{'descr' '<f4'}"), bad_syntax},
      {"key is a number", npy("{1: 2}"), bad_value},
      {"key in bytes", npy("{b'descr': '<f4'}"), bad_syntax},
      {"key never closed", npy("{'descr: 1}"), bad_syntax},
      {"quotes that differ", npy("{'descr\": '<f4'}"), bad_syntax},
      {"escape in a key", npy("{'d\\x65scr': '<f4'}"), bad_syntax},
      {"empty dict", npy("{}"), missing_field},
      {"no descr", npy("{'fortran_order': False, 'shape': ()}"), missing_field},
      {"no order", npy("{'descr': '<f4', 'shape': ()}", 4), missing_field},
      {"no shape", npy("{'descr': '<f4', 'fortran_order': False}"), missing_field},
      {"key of another name",
       npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 1}", 4), unknown_field},
      {"key in capitals", npy("{'DESCR': '<f4'}"), unknown_field},
      {"descr twice",
       npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", 4),
       duplicate_name},
      {"shape twice",
       npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), 'shape': (9,)}", 4),
       duplicate_name},
      {"objects", described("'|O'", 8), unsafe_dtype, "pickled"},
      {"objects with a size", described("'|O8'", 8), unsafe_dtype},
      {"structured", described("[('x', '<f4')]", 4), no_such_dtype, "each field"},
      {"array of arrays", described("('<f4', (2,))", 8), no_such_dtype},
      {"raw bytes, as bfloat16 is written", described("'<V2'", 2), no_such_dtype, "safetensors"},
      {"strings", described("'<U4'", 16), no_such_dtype},
      {"dates", described("'<M8'", 8), no_such_dtype},
      {"dates with a unit", described("'<M8[ns]'", 8), unknown_dtype},
      {"complex", described("'<c8'", 8), no_such_dtype, "astype"},
      {"unsigned 64 bits", described("'<u8'", 8), no_such_dtype},
      {"long double", described("'<f16'", 16), no_such_dtype},
      {"8-bit float of ml_dtypes", described("'<f1'", 1), no_such_dtype},
      {"type of no letter", described("'<4'", 4), unknown_dtype},
      {"type of no order", described("'f4'", 4), unknown_dtype},
      {"type's long name", described("'float32'", 4), unknown_dtype},
      {"type unknown", described("'<q4'", 4), unknown_dtype},
      {"type empty", described("''", 4), unknown_dtype},
      {"order alone", described("'<'", 4), unknown_dtype},
      {"floats without an order", described("'|f4'", 4), bad_value},
      {"type is a number", described("4", 4), bad_value},
      {"type None", described("None", 4), bad_value},
      {"order 0", npy("{'descr': '<f4', 'fortran_order': 0, 'shape': ()}", 4), bad_value},
      {"order in lower case", npy("{'descr': '<f4', 'fortran_order': false, 'shape': ()}", 4),
       bad_syntax},
      {"order in quotes", npy("{'descr': '<f4', 'fortran_order': 'False', 'shape': ()}", 4),
       bad_value},
      {"shape is a number", shaped("3", 12), bad_value},
      {"shape is a number in brackets", shaped("(3)", 12), bad_value, "(3,)"},
      {"shape is a list", shaped("[3]", 12), bad_value},
      {"shape with a negative size", shaped("(-1,)", 4), bad_shape},
      {"shape with a fraction", shaped("(1.0,)", 4), bad_syntax},
      {"shape with a string", shaped("('1',)", 4), bad_value},
      {"shape of Python 2", shaped("(3L,)", 12), bad_syntax},
      {"shape with NumPy's numbers", shaped("(np.int64(3),)", 12), bad_syntax},
      {"shape with two commas", shaped("(1,,)", 4), bad_syntax},
      {"shape never closed", shaped("(1,", 4), bad_syntax},
      {"shape with a leading zero", shaped("(01,)", 4), bad_syntax},
      {"size of 2^64", shaped("(18446744073709551616,)", 4), size_overflow},
      {"product wraps to 0", shaped("(4294967296, 4294967296)", 0), size_overflow},
      {"bytes beyond 2^63", shaped("(2305843009213693952,)", 0), size_overflow},
      {"beyond 2^63 but for a zero", shaped("(0, 9223372036854775807)", 0), size_overflow},
      {"nine dimensions", shaped("(1, 1, 1, 1, 1, 1, 1, 1, 1)", 4), bad_shape},
      {"huge shape", shaped("(1000000000000,)", 4), truncated},
      {"data missing", shaped("(1,)", 0), truncated, "4 bytes of data, got 0"},
      {"data cut", without_last(good, 1), truncated},
      {"trailing byte", good + zeros(1), trailing_bytes},
      {"two arrays", good + good, trailing_bytes, "one array"},
      {"data of an empty shape", shaped("(0,)", 4), trailing_bytes},
      {"truth value of 2", described("'|b1'", 0) + bytes({2}), bad_value, "0 or 1"},
  };
}

}  // namespace halfgrad::tests::npy_files
