#include <halfgrad/files/inflater.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include <zlib.h>

namespace halfgrad::files {

struct Inflater::Stream {
  z_stream zlib{};
  ByteSource packed;
  std::uint64_t next, end;  // offsets of the bytes not yet passed to zlib
  std::vector<std::byte> piece = std::vector<std::byte>(1 << 16);
  bool ended = false;

  /// Passes the next bytes to zlib.
  void refill() {
    const std::uint64_t wanted = std::min<std::uint64_t>(piece.size(), end - next);
    const std::size_t count = packed.read(next, std::span(piece).first(wanted));
    next += count;
    zlib.next_in = reinterpret_cast<Bytef*>(piece.data());
    zlib.avail_in = static_cast<uInt>(count);
  }
};

namespace {

constexpr int kLargestWindow = 15;  // 2^15 bytes; zlib wants + 16 for gzip, a minus for no wrapping

int window_bits(Inflater::Wrapping wrapping) {
  return wrapping == Inflater::Wrapping::gzip ? kLargestWindow + 16 : -kLargestWindow;
}

uInt limited(size_t n) { return static_cast<uInt>(std::min<size_t>(n, 1u << 30)); }

}  // namespace

Inflater::Inflater(ByteSource packed, std::uint64_t start, std::uint64_t size, Wrapping wrapping)
    : stream_(new Stream{.packed = std::move(packed), .next = start, .end = start + size}) {
  if (inflateInit2(&stream_->zlib, window_bits(wrapping)) != Z_OK) throw std::bad_alloc();
}

Inflater::~Inflater() { inflateEnd(&stream_->zlib); }

bool Inflater::is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1F} && bytes[1] == std::byte{0x8B};
}

size_t Inflater::read(std::span<std::byte> to) {
  z_stream& zlib = stream_->zlib;
  bool& ended = stream_->ended;
  if (to.empty()) return 0;  // zlib rejects a null pointer
  size_t done = 0;
  while (!ended) {
    if (zlib.avail_in == 0) stream_->refill();
    const uInt capacity = limited(to.size() - done);
    zlib.next_out = reinterpret_cast<Bytef*>(to.data() + done);
    zlib.avail_out = capacity;
    const int status = inflate(&zlib, Z_NO_FLUSH);
    done += capacity - zlib.avail_out;
    ended = status == Z_STREAM_END;
    if (ended || (status == Z_BUF_ERROR && done == to.size())) break;
    if (status == Z_BUF_ERROR) throw TruncatedStream();
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status != Z_OK) throw std::runtime_error(zlib.msg ? zlib.msg : "an unknown error");
  }
  return done;
}

std::uint64_t Inflater::unread() const {
  return stream_->zlib.avail_in + (stream_->end - stream_->next);
}

}  // namespace halfgrad::files
