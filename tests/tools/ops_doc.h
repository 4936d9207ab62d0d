#pragma once

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>

#include <halfgrad/autograd/op_table/op_table.h>

/// The format of docs/ops.md, which write_ops_doc.cpp writes and ops_doc_test.cpp checks.
namespace halfgrad::ops_doc {

inline constexpr std::array kMeasuredDTypes = {kFloat64, kFloat32, kFloat16, kBFloat16};

/// The page of every op: the file in autograd/ops/ that defines its entry, `OpEntry exp_entry() {`.
inline std::map<std::string, std::string> pages() {
  const std::regex entry("OpEntry (\\w+)_entry\\(\\) \\{.*");
  std::map<std::string, std::string> pages;
  for (const auto& file :
       std::filesystem::directory_iterator(HALFGRAD_SOURCE_DIR "/autograd/ops")) {
    if (file.path().extension() != ".cpp") continue;
    std::ifstream source(file.path());
    std::string before;
    for (std::string line; std::getline(source, line); before = line) {
      std::smatch match;
      if (!std::regex_match(line, match, entry) || before.starts_with("template")) continue;
      pages[match[1]] = file.path().filename().string();
    }
  }
  return pages;
}

/// The columns that do not depend on the machine.
inline std::string row_start(const OpEntry& op, const std::string& page) {
  std::ostringstream row;
  row << "| `" << op.name << "` | [" << page << "](../autograd/ops/" << page << ") | "
      << name(op.precision) << " | " << (op.differentiable ? "yes" : "no") << " | " << op.roundoffs
      << " |";
  return row.str();
}

}  // namespace halfgrad::ops_doc
