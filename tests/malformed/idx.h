#pragma once

#include <vector>

#include "deflated.h"
#include "malformed.h"

/// Files that each break one rule of IDX, plain and gzipped.
namespace halfgrad::tests::idx_files {

using enum files::FormatCode;

inline const Bytes kOneDim = bytes({0, 0, 8, 1, 0, 0, 0, 3});
inline const Bytes kThree = kOneDim + bytes({7, 8, 255});

inline std::vector<Malformed> malformed() {
  const Bytes packed = gzip(kThree);
  const Bytes large = gzip(bytes({0, 0, 8, 1, 0, 1, 0, 0}) + zeros(65536));
  const Bytes huge = bytes({255, 255, 255, 255});
  return {
      {"empty file", {}, truncated, "expected 4 bytes of magic number, got 0"},
      {"one byte", bytes({0}), truncated, "expected 4 bytes of magic number, got 1"},
      {"half a magic number", bytes({0, 0, 8}), truncated,
       "expected 4 bytes of magic number, got 3"},
      {"little-endian magic", bytes({1, 8, 0, 0}) + zeros(8), bad_magic,
       "begins with two zero bytes"},
      {"text", bytes({'P', '5', '\n', '2'}), bad_magic, "begins with two zero bytes"},
      {"second byte set", bytes({0, 1, 8, 1, 0, 0, 0, 0}), bad_magic, "begins with two zero bytes"},
      {"zip archive", bytes({'P', 'K', 3, 4}), bad_magic, "got an .npz archive"},
      {"type 0", bytes({0, 0, 0, 1, 0, 0, 0, 0}), unknown_dtype,
       "13 or 14 in the third byte, got 0"},
      {"type 7", bytes({0, 0, 7, 1, 0, 0, 0, 0}), unknown_dtype,
       "13 or 14 in the third byte, got 7"},
      {"type 10", bytes({0, 0, 10, 1, 0, 0, 0, 0}), unknown_dtype,
       "13 or 14 in the third byte, got 10"},
      {"type 15", bytes({0, 0, 15, 1, 0, 0, 0, 0}), unknown_dtype,
       "13 or 14 in the third byte, got 15"},
      {"type 255", bytes({0, 0, 255, 1, 0, 0, 0, 0}), unknown_dtype,
       "13 or 14 in the third byte, got 255"},
      {"no dimensions", bytes({0, 0, 8, 0, 1}), bad_shape, "expected 1 to 8 dimensions, got 0"},
      {"nine dimensions", bytes({0, 0, 8, 9}) + zeros(36), bad_shape,
       "expected 1 to 8 dimensions, got 9"},
      {"255 dimensions", bytes({0, 0, 8, 255}) + zeros(1020), bad_shape,
       "1 to 8 dimensions, got 255"},
      {"dimension missing", bytes({0, 0, 8, 1}), truncated, "expected 4 bytes of dimension, got 0"},
      {"dimension cut", bytes({0, 0, 8, 1, 0, 0, 0}), truncated,
       "expected 4 bytes of dimension, got 3"},
      {"second dimension missing", bytes({0, 0, 8, 2, 0, 0, 0, 0}), truncated,
       "of dimension, got 0"},
      {"little-endian dimension", bytes({0, 0, 8, 1, 3, 0, 0, 0, 7, 8, 9}), truncated,
       "expected at most 3 elements in a file of this size, got 1 x 50331648"},
      {"dimension of 2^32 - 1", bytes({0, 0, 8, 1}) + huge + zeros(9), truncated,
       "got 1 x 4294967295"},
      {"product beyond 2^64", bytes({0, 0, 8, 3}) + huge + huge + huge, truncated,
       "got 1 x 4294967295"},
      {"product wraps to zero",
       bytes({0, 0, 8, 3, 0, 0, 0, 2, 0x80, 0, 0, 0, 0, 0, 0, 2}) + zeros(40), truncated,
       "got 2 x 2147483648"},
      {"elements fit, their bytes do not", bytes({0, 0, 0x0E, 1, 0, 0, 0, 2}) + zeros(15),
       truncated, "expected at most 1 elements in a file of this size, got 1 x 2"},
      {"data missing", kOneDim, truncated, "expected at most 0 elements"},
      {"data cut", without_last(kThree, 1), truncated, "expected at most 2 elements"},
      {"data cut after two dimensions", bytes({0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0, 3, 5, 6}),
       truncated, "expected at most 2 elements in a file of this size, got 1 x 3"},
      {"trailing byte", kThree + zeros(1), trailing_bytes,
       "expected the end of the data, got more bytes"},
      {"file twice", kThree + kThree, trailing_bytes,
       "expected the end of the data, got more bytes"},
      {"empty dimension with data", bytes({0, 0, 8, 1, 0, 0, 0, 0, 1}), trailing_bytes,
       "the end of the data"},
      {"gzip magic alone", bytes({0x1F, 0x8B}), truncated,
       "a whole gzip stream, got a truncated one"},
      {"gzip header cut", without_last(packed, packed.size() - 9), truncated,
       "got a truncated one"},
      {"gzip data cut", without_last(large, 12), truncated, "got a truncated one"},
      {"gzip checksum missing", without_last(packed, 8), truncated, "got a truncated one"},
      {"gzip length cut", without_last(packed, 1), truncated, "got a truncated one"},
      {"gzip checksum wrong", with_byte(packed, packed.size() - 8, 0), corrupt_stream,
       "incorrect data check"},
      {"gzip length wrong", with_byte(packed, packed.size() - 4, 99), corrupt_stream,
       "incorrect length check"},
      {"gzip method unknown", with_byte(packed, 2, 7), corrupt_stream,
       "unknown compression method"},
      {"gzip flags reserved", with_byte(packed, 3, 0xE0), corrupt_stream,
       "unknown header flags set"},
      {"gzip block type reserved", with_byte(packed, 10, 7), corrupt_stream, "invalid block type"},
      {"gzip with trailing garbage", packed + zeros(5), trailing_bytes,
       "expected the end of the file after the gzip stream, got 5 more bytes"},
      {"gzip of two members", packed + packed, trailing_bytes,
       "the end of the file after the gzip stream"},
      {"gzip of gzip", gzip(packed), bad_magic, "begins with two zero bytes"},
      {"gzip of nothing", gzip({}), truncated, "expected 4 bytes of magic number, got 0"},
      {"gzip with too little data", gzip(without_last(kThree, 1)), truncated,
       "3 bytes of data, got 2"},
      {"gzip with a trailing byte", gzip(kThree + zeros(1)), trailing_bytes,
       "expected the end of the data"},
      {"gzip with a huge dimension", gzip(bytes({0, 0, 8, 1}) + huge), truncated,
       "in a file of this size"},
      {"dimension zero and the others beyond 2^63",
       bytes({0, 0, 8, 4, 0, 0, 0, 0}) + huge + huge + huge, size_overflow},
      {"doubles, and a product beyond 2^63 but for a zero",
       bytes({0, 0, 14, 3, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0}), truncated},
      {"npy file", bytes("\x93NUMPY") + zeros(20), bad_magic},
      {"safetensors file", bytes({2, 0, 0, 0, 0, 0, 0, 0, '{', '}'}), bad_magic},
      {"byte-swapped gzip", bytes({0x8B, 0x1F, 8, 0}), bad_magic},
      {"png", bytes("\x89PNG\r\n\x1A\n"), bad_magic},
      {"first byte set", bytes({8, 0, 8, 1, 0, 0, 0, 0}), bad_magic},
      {"type 1", bytes({0, 0, 1, 1, 0, 0, 0, 0}), unknown_dtype},
      {"type 16", bytes({0, 0, 16, 1, 0, 0, 0, 0}), unknown_dtype},
      {"type with the sign bit", bytes({0, 0, 0x88, 1, 0, 0, 0, 0}), unknown_dtype},
      {"int16 data odd", bytes({0, 0, 11, 1, 0, 0, 0, 2, 1, 2, 3}), truncated},
      {"float data cut", bytes({0, 0, 13, 1, 0, 0, 0, 1, 1, 2, 3}), truncated},
      {"double with half the data", bytes({0, 0, 14, 1, 0, 0, 0, 1}) + zeros(4), truncated},
      {"int32 with a trailing byte", bytes({0, 0, 12, 1, 0, 0, 0, 1}) + zeros(5), trailing_bytes},
      {"float read as bytes", bytes({0, 0, 8, 1, 0, 0, 0, 1}) + zeros(4), trailing_bytes},
      {"eighth dimension cut", bytes({0, 0, 8, 8}) + zeros(31), truncated},
      {"gzip data damaged", with_byte(large, 20, 0xFF), corrupt_stream},
      {"gzip with its header alone", without_last(packed, packed.size() - 10), truncated},
  };
}

}  // namespace halfgrad::tests::idx_files
