// libFuzzer target: the zip reader must read or refuse any bytes, and unpack to the announced size.
// Built and run by tools/fuzz.

#include <halfgrad/io/npy_header.h>
#include <halfgrad/io/zip_archive.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, size_t size) {
  using namespace halfgrad::io::detail;
  const auto file = std::as_bytes(std::span(bytes, size));
  const halfgrad::files::ByteReader input(file, "fuzz", "fuzz");
  try {
    for (const ZipMember& member : read_zip_directory(input)) {
      const auto contents = unpack(member, input);
      if (contents.size() != member.size) __builtin_trap();
      halfgrad::files::ByteReader array(contents, "fuzz", "fuzz");
      parse_npy_header(array);
    }
  } catch (const halfgrad::files::FormatError&) {
  }
  return 0;
}
