#pragma once

#include <functional>
#include <string>
#include <vector>

#include "malformed.h"
#include "zip_builder.h"

/// Archives with one wrong field each, or with a broken array.
namespace halfgrad::tests::npz_files {

using enum files::FormatCode;

inline Bytes npy(const std::string& shape, const Bytes& data) {
  const std::string dict = "{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + "}\n";
  return bytes("\x93NUMPY") + bytes({1, 0}) + little(dict.size(), 2) + bytes(dict) + data;
}

inline const Bytes kArray = npy("(3,)", bytes({7, 8, 9}));

inline Bytes one(const std::function<void(ZipPart&)>& change, bool deflate = false) {
  ZipPart part = zip_part("a.npy", kArray, deflate);
  change(part);
  return zip({part});
}

inline Bytes both(const std::function<void(ZipFields&)>& change, bool deflate = false) {
  return one(
      [&](ZipPart& part) {
        change(part.local);
        change(part.directory);
      },
      deflate);
}

inline Bytes named(const std::string& name) {
  return both([&](ZipFields& f) { f.name = name; });
}

inline Bytes ended(const std::function<void(ZipEnd&)>& change) {
  return zip({zip_part("a.npy", kArray)}, change);
}

inline Bytes zip64_end(unsigned long long members, unsigned long long size,
                       unsigned long long start) {
  return little(0x06064B50, 4) + little(44, 8) + little(45, 2) + little(45, 2) + zeros(8) +
         little(members, 8) + little(members, 8) + little(size, 8) + little(start, 8);
}

inline Bytes zip64_locator(unsigned long long at, int disks = 1) {
  return little(0x07064B50, 4) + little(0, 4) + little(at, 8) + little(disks, 4);
}

/// Returns an archive with the zip64 records that `records` returns.
inline Bytes wide(const std::function<Bytes(const ZipEnd&)>& records) {
  return ended([&](ZipEnd& end) {
    end.before = records(end);
    end.members = end.here = 0xFFFF;
    end.size = end.start = 0xFFFFFFFF;
  });
}

inline std::vector<Malformed> malformed() {
  const Bytes good = one([](ZipPart&) {});
  const auto shift = [](int by) { return [by](ZipFields& f) { f.size += by; }; };
  return {
      {"empty", {}, bad_magic},
      {"text", bytes("not an archive, though long enough for one"), bad_magic},
      {"npy file", kArray, bad_magic},
      {"first header alone", bytes("PK\3\4") + zeros(100), truncated},
      {"end record cut", without_last(good, 1), truncated},
      {"directory missing", without_last(good, 80), truncated},
      {"archive twice", good + good, bad_offsets},
      {"bytes before the archive", bytes("#!/bin/sh\n") + good, bad_offsets},
      {"byte after the archive", good + zeros(1), truncated},
      {"comment shorter than it says", ended([](ZipEnd& e) { e.comment_length = 5; }), truncated},
      {"comment longer than it says",
       ended([](ZipEnd& e) { e.comment = bytes("hello"), e.comment_length = 4; }), truncated},
      {"on two disks", ended([](ZipEnd& e) { e.disk = 1; }), unsupported_method, "in parts"},
      {"directory on another disk", ended([](ZipEnd& e) { e.first_disk = 1; }), unsupported_method},
      {"members on other disks", ended([](ZipEnd& e) { e.members = 2; }), unsupported_method},
      {"member on another disk", one([](ZipPart& p) { p.directory.disk = 1; }), unsupported_method},
      {"two members announced, one there", ended([](ZipEnd& e) { e.members = e.here = 2; }),
       truncated},
      {"60000 members announced", ended([](ZipEnd& e) { e.members = e.here = 60'000; }), truncated},
      {"no member announced, one there", ended([](ZipEnd& e) { e.members = e.here = 0; }),
       bad_offsets},
      {"directory one byte early", ended([](ZipEnd& e) { e.start -= 1; }), bad_offsets},
      {"directory one byte late", ended([](ZipEnd& e) { e.start += 1; }), bad_offsets},
      {"directory beyond the file", ended([](ZipEnd& e) { e.start = 0x7FFFFFFF; }), bad_offsets},
      {"directory too short", ended([](ZipEnd& e) { e.size -= 1, e.start += 1; }), bad_syntax},
      {"directory too long", ended([](ZipEnd& e) { e.size += 1, e.start -= 1; }), bad_syntax},
      {"header of the directory without signature",
       one([](ZipPart& p) { p.directory.signature = 0; }), bad_syntax},
      {"local header without signature", one([](ZipPart& p) { p.local.signature = 0; }),
       bad_offsets},
      {"member starts late", one([](ZipPart& p) { p.directory.start = 1; }), bad_offsets},
      {"member starts in the directory", one([](ZipPart& p) { p.directory.start = 200; }),
       bad_offsets},
      {"member starts beyond the file", one([](ZipPart& p) { p.directory.start = 1u << 30; }),
       bad_offsets},
      {"encrypted", both([](ZipFields& f) { f.flags = 1; }), encrypted},
      {"bzip2", both([](ZipFields& f) { f.method = 12; }), unsupported_method, "savez"},
      {"method 9", both([](ZipFields& f) { f.method = 9; }), unsupported_method},
      {"method unknown", both([](ZipFields& f) { f.method = 65535; }), unsupported_method},
      {"methods differ", one([](ZipPart& p) { p.local.method = 8; }), bad_value, "method"},
      {"names differ", one([](ZipPart& p) { p.local.name = "b.npy"; }), bad_value, "name"},
      {"checksums differ", one([](ZipPart& p) { p.local.crc ^= 1; }), bad_value, "checksum"},
      {"sizes differ", one([](ZipPart& p) { p.local.size += 1; }), bad_value, "size"},
      {"packed sizes differ", one([](ZipPart& p) { p.local.packed_size += 1; }), bad_value,
       "packed size"},
      {"name in Latin-1", named("\xE9.npy"), bad_text, "ASCII"},
      {"name not UTF-8", both([](ZipFields& f) { f.name = "\xE9.npy", f.flags = 2048; }), bad_text,
       "UTF-8"},
      {"name empty", named(""), bad_name},
      {"name absolute", named("/etc/passwd.npy"), bad_name},
      {"name leads up", named("../a.npy"), bad_name, "nothing was written"},
      {"name leads up further on", named("a/../../b.npy"), bad_name},
      {"name leads up at its end", named("a.npy/.."), bad_name},
      {"name with a dot part", named("./a.npy"), bad_name},
      {"name with an empty part", named("a//b.npy"), bad_name},
      {"name of a folder", named("a/"), bad_name},
      {"name with a backslash", named("..\\a.npy"), bad_name},
      {"name with a drive", named("C:/a.npy"), bad_name},
      {"name with a zero", named(std::string("a\0.npy", 6)), bad_name},
      {"name with a newline", named("a\n.npy"), bad_name},
      {"name of another kind", named("a.txt"), bad_name, "NAME.npy"},
      {"name in capitals", named("A.NPY"), bad_name},
      {"name of no array", named(".npy"), bad_name},
      {"name twice", zip({zip_part("a.npy", kArray), zip_part("a.npy", kArray)}), duplicate_name},
      {"stored, but of another size", both([](ZipFields& f) { f.size += 1; }), size_mismatch},
      {"stored, but packed size 0", both([](ZipFields& f) { f.packed_size = 0; }), size_mismatch},
      {"data within the directory",
       both([](ZipFields& f) { f.packed_size = f.size = f.size + 40; }), bad_offsets},
      {"data beyond the file", both([](ZipFields& f) { f.packed_size = f.size = 0x7FFFFFFF; }),
       bad_offsets},
      {"wrong checksum", both([](ZipFields& f) { f.crc ^= 1; }), bad_checksum},
      {"wrong checksum, deflated", both([](ZipFields& f) { f.crc = 0; }, true), bad_checksum},
      {"one bit of the data", one([](ZipPart& p) { p.data.back() ^= std::byte{1}; }), bad_checksum},
      {"unpacks to more than it says", both(shift(-1), true), bomb, "got more"},
      {"unpacks to less than it says", both(shift(1), true), size_mismatch},
      {"claims more than deflate can", both([](ZipFields& f) { f.size = 0x7FFFFFFF; }, true), bomb,
       "1032"},
      {"deflated data damaged", one([](ZipPart& p) { p.data[0] = std::byte{7}; }, true),
       corrupt_stream},
      {"deflated data cut",
       one(
           [](ZipPart& p) {
             p.data.pop_back();
             p.local.packed_size = p.directory.packed_size = p.data.size();
           },
           true),
       corrupt_stream, "truncated"},
      {"bytes after the deflated data",
       one(
           [](ZipPart& p) {
             p.data.push_back({});
             p.local.packed_size = p.directory.packed_size = p.data.size();
           },
           true),
       trailing_bytes},
      {"stored data said to be deflated", both([](ZipFields& f) { f.method = 8; }), size_mismatch},
      {"two members of the same bytes",
       [] {
         std::vector<ZipPart> parts{zip_part("a.npy", kArray), zip_part("a.npy", kArray)};
         const std::size_t length = 30 + 5 + kArray.size();
         parts[1].directory.start = 0ul - length;
         parts[1].directory.name = parts[1].local.name = "b.npy";
         return zip(parts);
       }(),
       bad_value, "name"},
      {"member within another",
       [] {
         const Bytes inner = zip({zip_part("b.npy", kArray)});
         std::vector<ZipPart> parts{
             zip_part("a.npy", npy("(" + std::to_string(inner.size()) + ",)", inner)),
             zip_part("b.npy", kArray)};
         parts[1].directory.start = 0ul - inner.size();
         return zip(parts);
       }(),
       overlap},
      {"extra field cut", both([](ZipFields& f) { f.extra = little(1, 2); }), truncated},
      {"extra field longer than the fields",
       both([](ZipFields& f) { f.extra = little(9, 2) + little(20, 2); }), bad_syntax},
      {"comment of a member missing", one([](ZipPart& p) { p.directory.comment_length = 9; }),
       bad_offsets},
      {"zip64's sizes missing", both([](ZipFields& f) { f.size = f.packed_size = 0xFFFFFFFF; }),
       bad_offsets},
      {"zip64's second size missing", both([](ZipFields& f) {
         f.extra = little(1, 2) + little(8, 2) + little(f.size, 8);
         f.size = f.packed_size = 0xFFFFFFFF;
       }),
       truncated, "fewer"},
      {"zip64's size beyond the file", both([](ZipFields& f) {
         f.extra = little(1, 2) + little(16, 2) + little(~0ull, 8) + little(~0ull, 8);
         f.size = f.packed_size = 0xFFFFFFFF;
       }),
       bad_offsets},
      {"zip64's records missing", wide([](const ZipEnd&) { return Bytes(); }), bad_syntax},
      {"zip64's locator alone",
       wide([](const ZipEnd& e) { return zip64_locator(e.start + e.size); }), bad_offsets},
      {"zip64's locator points after itself", wide([](const ZipEnd& e) {
         return zip64_end(1, e.size, e.start) + zip64_locator(e.start + e.size + 57);
       }),
       bad_offsets},
      {"zip64's locator of 2^64 - 1",
       wide([](const ZipEnd& e) { return zip64_end(1, e.size, e.start) + zip64_locator(~0ull); }),
       bad_offsets},
      {"zip64 on two disks", wide([](const ZipEnd& e) {
         return zip64_end(1, e.size, e.start) + zip64_locator(e.start + e.size, 2);
       }),
       unsupported_method},
      {"zip64 with 2^60 members", wide([](const ZipEnd& e) {
         return zip64_end(1ull << 60, e.size, e.start) + zip64_locator(e.start + e.size);
       }),
       truncated},
      {"zip64's directory wraps around", wide([](const ZipEnd& e) {
         return zip64_end(1, ~0ull, e.start + e.size + 1) + zip64_locator(e.start + e.size);
       }),
       bad_offsets},
      {"array with objects",
       zip({zip_part("a.npy",
                     bytes("\x93NUMPY") + bytes({1, 0, 55, 0}) +
                         bytes("{'descr': '|O', 'fortran_order': False, 'shape': ()}  \n"))}),
       unsafe_dtype},
      {"array cut", zip({zip_part("a.npy", without_last(kArray, 1))}), truncated},
      {"array with a trailing byte", zip({zip_part("a.npy", kArray + zeros(1), true)}),
       trailing_bytes},
      {"member empty", zip({zip_part("a.npy", {})}), truncated},
      {"second array broken", zip({zip_part("a.npy", kArray), zip_part("b.npy", zeros(10))}),
       bad_magic},
  };
}

}  // namespace halfgrad::tests::npz_files
