// libFuzzer target: parse_npy_header must read or refuse any bytes. Built and run by tools/fuzz.

#include <halfgrad/io/npy_header.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, size_t size) {
  try {
    halfgrad::files::ByteReader input(std::as_bytes(std::span(bytes, size)), "fuzz", "fuzz");
    const auto header = halfgrad::io::detail::parse_npy_header(input);
    if (header.data_start + header.data_size != size) __builtin_trap();
  } catch (const halfgrad::files::FormatError&) {
  }
  return 0;
}
