#include <halfgrad/files/byte_reader.h>

#include <algorithm>
#include <utility>

namespace halfgrad::files {

ByteReader::ByteReader(std::span<const std::byte> bytes, std::string reader, std::string file,
                       std::uint64_t origin, Gzip gzip)
    : bytes_(bytes), reader_(std::move(reader)), file_(std::move(file)), origin_(origin) {
  if (gzip == Gzip::unpack && Inflater::is_gzip(bytes)) {
    inflater_ = std::make_shared<Inflater>(bytes, Inflater::Wrapping::gzip);
  }
}

ByteReader ByteReader::from(std::uint64_t offset) const {
  const std::uint64_t start = std::min<std::uint64_t>(offset - origin_, bytes_.size());
  return {bytes_.subspan(start), reader_, file_, offset};
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
  require(count, bytes_.size() - position_, what);
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
  return inflater_ ? bytes_.size() * Inflater::kMaxRatio : bytes_.size() - position_;
}

std::size_t ByteReader::read_some(std::span<std::byte> to) {
  if (!inflater_) {
    const std::size_t count = std::min(to.size(), bytes_.size() - position_);
    std::copy_n(bytes_.begin() + position_, count, to.begin());
    return count;
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
