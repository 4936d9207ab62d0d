#include <halfgrad/files/byte_reader.h>

#include <algorithm>
#include <utility>

namespace halfgrad::files {

ByteReader::ByteReader(ByteSource source, std::string reader, std::string file, Gzip gzip)
    : source_(std::move(source)), reader_(std::move(reader)), file_(std::move(file)) {
  std::byte start[2];
  const std::span<std::byte> magic(start, source_.read(0, start));
  if (gzip == Gzip::unpack && Inflater::is_gzip(magic)) {
    inflater_ = std::make_shared<Inflater>(source_, 0, source_.size(), Inflater::Wrapping::gzip);
  }
}

ByteReader ByteReader::from(std::uint64_t offset) const {
  ByteReader other(source_, reader_, file_);
  other.position_ = offset;
  return other;
}

void ByteReader::fail(FormatCode code, const std::string& expected, const std::string& got,
                      const std::string& fix) const {
  fail_at(position(), code, expected, got, fix);
}

void ByteReader::fail_at(std::uint64_t offset, FormatCode code, const std::string& expected,
                         const std::string& got, const std::string& fix) const {
  throw FormatError(reader_, file_, {code, offset, expected, got, fix});
}

void ByteReader::read(std::span<std::byte> to, const char* what) {
  const std::size_t count = read_some(to);
  require(to.size(), count, what);
  position_ += count;
}

void ByteReader::skip(std::uint64_t count, const char* what) {
  require(count, left(), what);
  position_ += count;
}

void ByteReader::require(std::uint64_t wanted, std::uint64_t available, const char* what) const {
  if (available >= wanted) return;
  fail(FormatCode::truncated, std::to_string(wanted) + " bytes of " + what,
       std::to_string(available));
}

void ByteReader::expect_end() {
  std::byte extra;
  if (read_some({&extra, 1}) != 0) {
    fail(FormatCode::trailing_bytes, "the end of the data", "more bytes");
  }
  if (inflater_ && inflater_->unread() > 0) {
    fail(FormatCode::trailing_bytes, "the end of the file after the gzip stream",
         std::to_string(inflater_->unread()) + " more bytes");
  }
}

std::uint64_t ByteReader::limit() const {
  return inflater_ ? source_.size() * Inflater::kMaxRatio : left();
}

std::size_t ByteReader::read_some(std::span<std::byte> to) {
  if (!inflater_) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), left()));
    return source_.read(position_, to.first(wanted));
  }
  try {
    return inflater_->read(to);
  } catch (const TruncatedStream& error) {
    fail(FormatCode::truncated, "a whole gzip stream", error.what());
  } catch (const std::runtime_error& error) {
    fail(FormatCode::corrupt_stream, "a whole gzip stream", error.what());
  }
}

}  // namespace halfgrad::files
