#include "launches.h"

#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace {

using nlohmann::json;

/// Shortens a demangled name: no return type, no parameters, no template arguments.
std::string short_name(std::string name) {
  const std::string unnamed = "(anonymous namespace)::";
  for (std::size_t at = name.find(unnamed); at != std::string::npos; at = name.find(unnamed)) {
    name.erase(at, unnamed.size());
  }
  std::string result;
  int depth = 0;  // open angle brackets
  for (const char c : name) {
    if (c == '<') ++depth;
    if (depth == 0 && c == '(') break;
    if (depth == 0) result += c;
    if (c == '>') --depth;
  }
  const std::size_t space = result.rfind(' ');
  if (space != std::string::npos) result.erase(0, space + 1);
  const std::size_t scope = result.rfind("::");
  return scope == std::string::npos ? result : result.substr(scope + 2);
}

}  // namespace

std::vector<halfgrad::report::Launches> read_launches(const std::filesystem::path& file) {
  std::map<std::string, halfgrad::report::Launches> rows;
  const auto add = [&](const std::string& name, double bytes) {
    halfgrad::report::Launches& row = rows[name];
    row.name = name;
    ++row.times;
    row.bytes += bytes;
  };
  try {
    std::ifstream stream(file);
    const json report = json::parse(stream);
    for (const json& launch : report.at("launches")) {
      const json& kernel = report.at("kernels").at(launch.at("kernel").get<std::size_t>());
      const json& total = launch.at("total");
      add(short_name(kernel.at("name")),
          total.at("bytes_loaded").get<double>() + total.at("bytes_stored").get<double>());
    }
    for (const json& call : report.at("calls")) {
      add(call.at("name").get<std::string>(), call.value("bytes", 0.0));
    }
  } catch (const json::exception& error) {
    throw std::invalid_argument(
        fmt::format("--launches: expected a file of halfgrad-emulate --json, got {}: {}",
                    file.string(), error.what()));
  }
  std::vector<halfgrad::report::Launches> list;
  for (const auto& [name, row] : rows) list.push_back(row);
  return list;
}
