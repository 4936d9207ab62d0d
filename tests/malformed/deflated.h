#pragma once

#include <stdexcept>

#include <zlib.h>

#include "../bytes.h"

namespace halfgrad::tests {

inline constexpr int kRawDeflate = -15, kGzip = 15 + 16;  // deflateInit2's windowBits

inline Bytes deflated(const Bytes& plain, int format) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, format, 9, Z_DEFAULT_STRATEGY);
  Bytes packed(deflateBound(&stream, plain.size()));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const bool is_whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (!is_whole) throw std::logic_error("deflated: expected deflateBound() bytes to suffice");
  return packed;
}

inline Bytes gzip(const Bytes& plain) { return deflated(plain, kGzip); }

}  // namespace halfgrad::tests
