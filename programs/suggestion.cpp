#include <halfgrad/programs/suggestion.h>

#include <algorithm>

namespace programs {
namespace {

/// Edit distance: the smallest number of insertions, deletions, replacements and exchanges of
/// neighbours that turn a into b (optimal string alignment: Boytsov, "Indexing methods for
/// approximate dictionary searching", 2011).
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      const bool is_same = a[i - 1] == b[j - 1];
      table[i][j] = std::min(
          {table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (is_same ? 0 : 1)});
      const bool is_exchange = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_exchange) table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  }
  return table[a.size()][b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view given, const std::vector<std::string>& names) {
  std::size_t fewest = std::max<std::size_t>(1, given.size() / 3) + 1;
  std::string nearest;
  for (const std::string& name : names) {
    const std::size_t count = edits(given, name);
    if (count >= std::min(fewest, std::max(given.size(), name.size()))) continue;
    fewest = count;
    nearest = name;
  }
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

}  // namespace programs
