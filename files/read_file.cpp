#include <halfgrad/files/read_file.h>

#include <fstream>
#include <system_error>

#include <halfgrad/files/format_error.h>

namespace halfgrad::files {

std::vector<std::byte> read_file(const std::filesystem::path& path, const std::string& reader) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) {
    throw FormatError(reader, path.string(),
                      {FormatCode::unreadable, 0, "a file", error.message()});
  }
  std::vector<std::byte> bytes(size);
  std::ifstream stream(path, std::ios::binary);
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (!stream) {
    throw FormatError(reader, path.string(),
                      {FormatCode::unreadable, 0, std::to_string(size) + " bytes", "a read error"});
  }
  return bytes;
}

}  // namespace halfgrad::files
