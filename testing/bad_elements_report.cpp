#include <halfgrad/testing/bad_elements_report.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include <halfgrad/testing/json_text.h>

namespace halfgrad::testing {
namespace {

std::string json_of(const WorstElement& element, const Shape& shape) {
  return "{\"index\": " + index_list(element.index, shape) +
         ", \"got\": " + json_number(element.got) +
         ", \"expected\": " + json_number(element.expected) +
         ", \"allowed\": " + json_number(element.allowed) +
         ", \"used\": " + json_number(element.used) + "}";
}

std::string json_of(const BadCounts& counts) {
  std::ostringstream out;
  out << "{\"last_row\": " << counts.last_row << ", \"last_column\": " << counts.last_column
      << ", \"every_eighth_column\": " << counts.every_eighth_column << ", \"tiles\": ["
      << joined(counts.tiles,
                [](const BadCounts::Tiles& tiles) {
                  return "{\"size\": " + std::to_string(tiles.size) +
                         ", \"bad\": " + std::to_string(tiles.bad) +
                         ", \"all\": " + std::to_string(tiles.all) + "}";
                })
      << "]}";
  return out.str();
}

}  // namespace

std::string index_list(std::int64_t index, const Shape& shape) {
  std::string list = index_tuple(index, shape);
  list.front() = '[';
  list.back() = ']';
  return list;
}

std::string places_text(const KernelFinding& finding) {
  const BadElements& bad = finding.bad;
  constexpr std::int64_t kFewest = 8;  // a map of fewer elements tells nothing
  if (bad.wrong.empty() || numel(bad.shape) < kFewest) return {};
  const BadMap map = map_of(bad);
  const std::string pattern = pattern_of(bad);
  std::ostringstream out;
  out << "    wrong in " << to_string(finding.bad_case) << ": " << bad.wrong.size() << " of "
      << numel(bad.shape) << " elements" << (pattern.empty() ? "" : ", " + pattern)
      << ". Map, # is wrong";
  if (map.rows_each * map.columns_each > 1) {
    out << ", + partly, a character for " << map.rows_each << " x " << map.columns_each
        << " elements";
  }
  out << ":\n";
  for (const std::string& line : map.lines) out << "      " << line << '\n';
  return out.str();
}

std::string places_json(const KernelFinding& finding) {
  const BadElements& bad = finding.bad;
  if (bad.wrong.empty()) return {};
  const BadMap map = map_of(bad);
  std::ostringstream out;
  out << ", \"places\": {\"case\": " << json_string(to_string(finding.bad_case))
      << ", \"shape\": " << to_string(bad.shape) << ", \"wrong\": " << bad.wrong.size()
      << ", \"elements\": " << numel(bad.shape) << ", \"pattern\": " << json_string(pattern_of(bad))
      << ", \"counts\": " << json_of(counts_of(bad))
      << ", \"map\": {\"rows_each\": " << map.rows_each
      << ", \"columns_each\": " << map.columns_each << ", \"lines\": ["
      << joined(map.lines, json_string) << "]}, \"worst\": ["
      << joined(bad.worst, [&](const WorstElement& e) { return json_of(e, bad.shape); }) << "]}";
  return out.str();
}

std::string values_text(const Values& values) {
  constexpr std::size_t kMostPrinted = 16;
  constexpr int kDigits = 9;
  if (values.data.size() <= kMostPrinted) {
    return joined(values.data, [](double x) { return number_text(x, kDigits); });
  }
  std::vector<std::string> items;
  std::size_t others = 0;
  for (std::size_t i = 0; i < values.data.size(); ++i) {
    const double x = values.data[i];
    if (x == 0) continue;
    if (items.size() == kMostPrinted) {
      ++others;
      continue;
    }
    items.push_back(index_tuple(static_cast<std::int64_t>(i), values.sizes) + " = " +
                    number_text(x, kDigits));
  }
  if (items.empty()) return "all 0";
  return joined(items, [](const std::string& item) { return item; }) +
         (others > 0 ? ", and " + std::to_string(others) + " more that are not 0" : ", else 0");
}

}  // namespace halfgrad::testing
