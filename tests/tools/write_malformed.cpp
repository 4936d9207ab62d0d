// Writes every malformed file of the tests to disk, so that other readers can be tested with them:
//
//   write_malformed DIR
//
// leaves DIR/npy/no_newline.npy and so on, and DIR/manifest.json, a list of
//
//   format   "idx", "npy", "npz" or "safetensors"
//   name     what is wrong
//   file     its path in DIR
//   code     the files::FormatCode that halfgrad's reader gives
//   message  a part of its message; may be empty
#include <cctype>
#include <filesystem>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <halfgrad/files/replace_file.h>
#include <halfgrad/tests/malformed/idx.h>
#include <halfgrad/tests/malformed/npy.h>
#include <halfgrad/tests/malformed/npz.h>
#include <halfgrad/tests/malformed/safetensors.h>
#include <nlohmann/json.hpp>

namespace {

using namespace halfgrad;
using nlohmann::ordered_json;

/// Turns "size of 2^64 - 1" into "size_of_2_64_1".
std::string file_name(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      result += c;
    } else if (!result.ends_with('_')) {
      result += '_';
    }
  }
  return result;
}

void write(const std::filesystem::path& folder, const std::string& format,
           const std::vector<tests::Malformed>& list, ordered_json& manifest) {
  std::filesystem::create_directories(folder / format);
  for (const tests::Malformed& malformed : list) {
    const std::string file = format + "/" + file_name(malformed.name) + "." + format;
    files::replace_file(folder / file, malformed.file);
    manifest.push_back({{"format", format},
                        {"name", malformed.name},
                        {"file", file},
                        {"code", files::name(malformed.code)},
                        {"message", malformed.message}});
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_malformed DIR\n";
    return 2;
  }
  try {
    const std::filesystem::path folder = argv[1];
    ordered_json manifest;
    write(folder, "idx", tests::idx_files::malformed(), manifest);
    write(folder, "npy", tests::npy_files::malformed(), manifest);
    write(folder, "npz", tests::npz_files::malformed(), manifest);
    write(folder, "safetensors", tests::safetensors_files::malformed(), manifest);
    const std::string text = manifest.dump(2) + "\n";
    files::replace_file(folder / "manifest.json", std::as_bytes(std::span(text)));
    std::cout << manifest.size() << " files\n";
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "write_malformed: " << error.what() << '\n';
    return 1;
  }
}
