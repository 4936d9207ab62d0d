#include <halfgrad/emulator/report/source_text.h>

#include <filesystem>
#include <fstream>

namespace halfgrad::emulator {

std::string SourceText::line(const std::string& file, unsigned number) {
  const auto [place, is_new] = files_.try_emplace(file);
  std::vector<std::string>& lines = place->second;
  std::error_code error;
  if (is_new && std::filesystem::is_regular_file(file, error)) {
    std::ifstream stream(file);
    for (std::string text; std::getline(stream, text);) lines.push_back(text);
  }
  if (number == 0 || number > lines.size()) return "";
  const std::string& text = lines[number - 1];
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin);
}

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

}  // namespace halfgrad::emulator
