// libFuzzer target: parse_safetensors_header must read or refuse any bytes, and must read the
// output of format_safetensors_header for a header that it has read. Built and run by tools/fuzz.

#include <halfgrad/files/format_error.h>
#include <halfgrad/io/safetensors_header.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, size_t size) {
  using namespace halfgrad::io::detail;
  const auto file = std::as_bytes(std::span(bytes, size));
  SafetensorsHeader header;
  try {
    header = parse_safetensors_header(file, "fuzz");
  } catch (const halfgrad::files::FormatError&) {
    return 0;
  }
  std::string again = format_safetensors_header(header);
  again.append(reinterpret_cast<const char*>(bytes) + header.data_start, size - header.data_start);
  const SafetensorsHeader same = parse_safetensors_header(std::as_bytes(std::span(again)), "again");
  if (same.metadata != header.metadata) __builtin_trap();
  if (same.entries.size() != header.entries.size()) __builtin_trap();
  for (size_t i = 0; i < same.entries.size(); ++i) {
    if (same.entries[i].name != header.entries[i].name) __builtin_trap();
    if (same.entries[i].shape != header.entries[i].shape) __builtin_trap();
  }
  return 0;
}
