#include <halfgrad/emulator/checks/suppressions.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace halfgrad::emulator {
namespace {

bool is_kind(const std::string& word) {
  for (int kind = 0; kind <= static_cast<int>(FindingKind::invalid_call); ++kind) {
    if (word == finding_name(static_cast<FindingKind>(kind))) return true;
  }
  return word == "*";
}

}  // namespace

Suppressions Suppressions::read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("suppressions: cannot read " + path);
  Suppressions result;
  unsigned number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    const std::size_t text = std::min(line.find_first_not_of(" \t", end), line.size());
    Line parsed{line.substr(begin, end - begin), line.substr(text)};
    while (!parsed.text.empty() && parsed.text.find_last_of(" \t\r") + 1 == parsed.text.size()) {
      parsed.text.pop_back();
    }
    if (!is_kind(parsed.kind) || parsed.text.empty()) {
      throw std::runtime_error("suppressions: expected a kind of finding or *, and a text, got '" +
                               line + "' at " + path + ":" + std::to_string(number));
    }
    result.lines_.push_back(std::move(parsed));
  }
  return result;
}

void Suppressions::apply(Finding& finding) const {
  if (lines_.empty() || finding.severity == Severity::note) return;
  const std::string report = to_string(finding);
  const bool known = std::any_of(lines_.begin(), lines_.end(), [&](const Line& line) {
    const bool same_kind = line.kind == "*" || line.kind == finding_name(finding.kind);
    return same_kind && report.find(line.text) != std::string::npos;
  });
  if (!known) return;
  finding.severity = Severity::note;
  finding.message += " (suppressed)";
}

}  // namespace halfgrad::emulator
