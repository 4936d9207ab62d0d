#pragma once

#include <functional>
#include <string>
#include <vector>

#include <zlib.h>

#include "deflated.h"

namespace halfgrad::tests {

/// The fields of a member's header; a test may set wrong values.
struct ZipFields {
  std::string name;
  unsigned flags = 0, method = 0;
  unsigned long crc = 0, packed_size = 0, size = 0;
  Bytes extra = {};
  unsigned comment_length = 0, disk = 0;
  unsigned long start = 0;
  unsigned long signature = 0;
};

struct ZipPart {
  ZipFields local, directory;
  Bytes data;
};

struct ZipEnd {
  unsigned disk = 0, first_disk = 0, here = 0, members = 0;
  unsigned long size = 0, start = 0;
  unsigned comment_length = 0;
  Bytes comment = {}, before = {};  ///< `before` precedes the end record
};

inline ZipPart zip_part(const std::string& name, const Bytes& contents, bool deflate = false) {
  ZipFields fields{.name = name, .method = deflate ? 8u : 0u};
  const Bytes data = deflate ? deflated(contents, kRawDeflate) : contents;
  fields.crc =
      crc32(0, reinterpret_cast<const Bytef*>(contents.data()), static_cast<uInt>(contents.size()));
  fields.packed_size = data.size();
  fields.size = contents.size();
  ZipPart part{fields, fields, data};
  part.local.signature = 0x04034B50;
  part.directory.signature = 0x02014B50;
  return part;
}

inline Bytes zip_fields(const ZipFields& f) {
  return little(20, 2) + little(f.flags, 2) + little(f.method, 2) + little(0x00210000, 4) +
         little(f.crc, 4) + little(f.packed_size, 4) + little(f.size, 4) +
         little(f.name.size(), 2) + little(f.extra.size(), 2);
}

/// Builds an archive. `start` of a directory header is added to the offset of its part.
inline Bytes zip(
    const std::vector<ZipPart>& parts,
    const std::function<void(ZipEnd&)>& change = [](ZipEnd&) {}) {
  Bytes file, directory;
  for (const ZipPart& part : parts) {
    const ZipFields &l = part.local, &d = part.directory;
    directory = directory + little(d.signature, 4) + little(20, 2) + zip_fields(d) +
                little(d.comment_length, 2) + little(d.disk, 2) + zeros(6) +
                little(file.size() + d.start, 4) + bytes(d.name) + d.extra;
    file = file + little(l.signature, 4) + zip_fields(l) + bytes(l.name) + l.extra + part.data;
  }
  ZipEnd end{.here = static_cast<unsigned>(parts.size()),
             .members = static_cast<unsigned>(parts.size()),
             .size = directory.size(),
             .start = file.size()};
  change(end);
  return file + directory + end.before + little(0x06054B50, 4) + little(end.disk, 2) +
         little(end.first_disk, 2) + little(end.here, 2) + little(end.members, 2) +
         little(end.size, 4) + little(end.start, 4) + little(end.comment_length, 2) + end.comment;
}

}  // namespace halfgrad::tests
