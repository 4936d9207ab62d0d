#include <halfgrad/files/read_file.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include <halfgrad/files/format_error.h>

namespace halfgrad::files {

std::string why_unreadable(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return "no such file";
  if (std::filesystem::is_directory(status)) return "a folder";
  errno = 0;
  const std::ifstream stream(path, std::ios::binary);
  return std::generic_category().message(errno);
}

std::vector<std::byte> read_file(const std::filesystem::path& path, const std::string& reader) {
  const auto refuse = [&](const std::string& expected, const std::string& got) {
    throw FormatError(reader, path.string(), {FormatCode::unreadable, 0, expected, got});
  };
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  std::ifstream stream(path, std::ios::binary);
  if (error || !stream.is_open()) refuse("a file", why_unreadable(path));
  std::vector<std::byte> bytes(size);
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (!stream) refuse(std::to_string(size) + " bytes", "a read error");
  return bytes;
}

}  // namespace halfgrad::files
