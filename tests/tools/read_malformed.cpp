// Reads the files that write_malformed wrote, and checks that each one is refused as its manifest
// says. Each format must have at least 60 files.
//
//   read_malformed DIR
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <string>

#include <halfgrad/data/idx.h>
#include <halfgrad/files/format_error.h>
#include <halfgrad/io/npy.h>
#include <halfgrad/io/safetensors.h>
#include <nlohmann/json.hpp>

namespace {

using namespace halfgrad;
using std::filesystem::path;

const std::map<std::string, std::function<void(const path&)>> kReaders{
    {"idx", [](const path& file) { data::read_idx(file); }},
    {"npy", [](const path& file) { io::load_npy(file); }},
    {"npz", [](const path& file) { io::load_npz(file); }},
    {"safetensors", [](const path& file) { io::load_safetensors(file); }},
};

/// Returns how the result differs from the entry of the manifest, or an empty string.
std::string fault(const path& folder, const nlohmann::json& entry) {
  const std::string code = entry.at("code"), message = entry.at("message");
  try {
    kReaders.at(entry.at("format"))(folder / std::string(entry.at("file")));
    return "it was read";
  } catch (const files::FormatError& error) {
    const std::string what = error.what();
    const bool matches = files::name(error.code()) == code && what.find(message) != what.npos;
    return matches ? "" : "got " + std::string(files::name(error.code())) + ", " + what;
  }
}

bool all_refused(const path& folder) {
  std::ifstream stream(folder / "manifest.json");
  std::map<std::string, std::size_t> counts;
  std::set<std::string> files;
  bool good = true;
  const auto complain = [&good](const std::string& text) {
    std::cerr << "read_malformed: " << text << '\n';
    good = false;
  };
  for (const nlohmann::json& entry : nlohmann::json::parse(stream)) {
    ++counts[entry.at("format")];
    const std::string file = entry.at("file");
    if (!files.insert(file).second) complain(file + ": expected one entry, got two");
    const std::string found = fault(folder, entry);
    if (!found.empty()) complain(file + ": expected " + entry.dump() + ", " + found);
  }
  for (const auto& [format, reader] : kReaders) {
    const std::size_t count = counts[format];
    std::cout << format << ": " << count << " files\n";
    if (count < 60) complain(format + ": expected 60 files or more");
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return argc == 2 && all_refused(argv[1]) ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "read_malformed: " << error.what() << '\n';
    return 1;
  }
}
