// libFuzzer target: parse_idx must read or refuse any bytes, plain or gzipped.
// Built and run by tools/fuzz.

#include <halfgrad/data/idx.h>
#include <halfgrad/files/format_error.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, size_t size) {
  try {
    const auto file = halfgrad::data::parse_idx(std::as_bytes(std::span(bytes, size)));
    std::int64_t expected = halfgrad::item_size(file.dtype);
    for (std::int64_t dim : file.dims) expected *= dim;
    if (expected != static_cast<std::int64_t>(file.data.size())) __builtin_trap();
  } catch (const halfgrad::files::FormatError&) {
  }
  return 0;
}
