#include <halfgrad/testing/bad_elements.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace halfgrad::testing {
namespace {

constexpr std::size_t kFewest = 2;  // elements that make a pattern

std::string ordinal(std::int64_t n) {
  if (n == 2) return "second";
  return std::to_string(n) + "th";
}

/// The names of a dimension: "row" and "rows".
struct Axis {
  const char* one;
  const char* many;
};

/// The largest power of two by which all distances between the indices can be divided.
std::int64_t period_of(const std::vector<std::int64_t>& indices) {
  std::int64_t common = 0;
  for (const std::int64_t index : indices) common = std::gcd(common, index - indices.front());
  std::int64_t period = 1;
  while (common != 0 && common % (2 * period) == 0 && period < 64) period *= 2;
  return period;
}

/// Describes the ascending indices, of `size` in all, in which wrong elements lie.
std::string described(const std::vector<std::int64_t>& indices, std::int64_t size, Axis axis) {
  const std::int64_t first = indices.front(), last = indices.back();
  const auto count = static_cast<std::int64_t>(indices.size());
  if (count == size) return {};
  const std::string many = axis.many;
  if (count == 1) {
    if (first == size - 1) return std::string("the last ") + axis.one;
    return std::string(axis.one) + " " + std::to_string(first);
  }
  const std::int64_t period = period_of(indices);
  if (period > 1 && count > 2) {
    return "every " + ordinal(period) + " " + axis.one + ", from " + axis.one + " " +
           std::to_string(first) + " on";
  }
  constexpr std::int64_t kVector = 8;
  const std::int64_t span = last - first + 1, outside = size - span;
  const bool clear = 8 * outside >= size ? 2 * count > span : 10 * count >= 9 * span;
  if (!clear || outside == 0) return {};
  if (last == size - 1 && first % kVector == 0) {
    const std::string above = many + " " + std::to_string(first) + " and above";
    if (size - first >= kVector) return above;  // else it may also be a tail
    return above + ", the last " + std::to_string(size - first) + " of " + std::to_string(size);
  }
  if (last == size - 1) {
    return "the last " + std::to_string(size - first) + " of " + std::to_string(size) + " " + many;
  }
  if (first == 0) {
    return "the first " + std::to_string(last + 1) + " of " + std::to_string(size) + " " + many;
  }
  return many + " " + std::to_string(first) + " to " + std::to_string(last);
}

std::vector<std::int64_t> distinct(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// The diagonal of a nearly square result, or the triangle on one side of it.
std::string diagonal(const BadElements& bad, const std::vector<std::int64_t>& rows,
                     const std::vector<std::int64_t>& columns) {
  const auto all = [&](auto holds) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!holds(rows[i], columns[i])) return false;
    }
    return true;
  };
  const std::int64_t height = bad.rows(), width = bad.columns();
  if (height > 2 * width || width > 2 * height) return {};
  const auto count = static_cast<std::int64_t>(rows.size()), side = std::min(height, width);
  if (count > height * width / 4 && all([](auto row, auto column) { return row < column; })) {
    return "above the diagonal";
  }
  if (count > height * width / 4 && all([](auto row, auto column) { return row > column; })) {
    return "below the diagonal";
  }
  const bool on = count > side / 2 && all([](auto row, auto column) { return row == column; });
  return on ? "the diagonal" : "";
}

/// The one tile that the wrong rows and columns fill, if there are several tiles.
std::string tile(const BadElements& bad, const std::vector<std::int64_t>& rows,
                 const std::vector<std::int64_t>& columns) {
  for (const std::int64_t size : {16, 32, 64}) {
    if (bad.rows() <= size || bad.columns() <= size) continue;
    const std::int64_t row = rows.front() / size, column = columns.front() / size;
    if (row != rows.back() / size || column != columns.back() / size) continue;
    const auto fills = [size](const std::vector<std::int64_t>& indices, std::int64_t all) {
      const std::int64_t first = indices.front() / size * size;
      return indices.front() == first && indices.back() >= std::min(first + size, all) - 1;
    };
    if (!fills(rows, bad.rows()) || !fills(columns, bad.columns())) continue;
    return "the tile of " + std::to_string(size) + " x " + std::to_string(size) + " at row " +
           std::to_string(row * size) + ", column " + std::to_string(column * size);
  }
  return {};
}

}  // namespace

std::string index_tuple(std::int64_t index, const Shape& shape) {
  std::string text;
  for (int dim = shape.size() - 1; dim >= 0; --dim) {
    const std::int64_t size = std::max<std::int64_t>(shape[dim], 1);
    const std::int64_t here = dim == 0 ? index : index % size;
    text = std::to_string(here) + (text.empty() ? "" : ", ") + text;
    index /= size;
  }
  return "(" + text + ")";
}

std::string pattern_of(const BadElements& bad) {
  if (bad.wrong.size() < kFewest) return {};
  if (static_cast<std::int64_t>(bad.wrong.size()) == numel(bad.shape)) return "every element";
  std::vector<std::int64_t> rows, columns;
  for (const std::int64_t index : bad.wrong) {
    rows.push_back(index / bad.columns());
    columns.push_back(index % bad.columns());
  }
  constexpr Axis kElements{"element", "elements"}, kRows{"row", "rows"},
      kColumns{"column", "columns"};
  const bool flat = bad.shape.size() < 2;
  if (std::string place = flat ? "" : diagonal(bad, rows, columns); !place.empty()) return place;
  const std::vector<std::int64_t> bad_rows = distinct(rows), bad_columns = distinct(columns);
  std::string in_columns = described(bad_columns, bad.columns(), flat ? kElements : kColumns);
  std::string in_rows = flat ? "" : described(bad_rows, bad.rows(), kRows);
  if (!in_columns.empty() && !in_rows.empty()) {
    if (std::string one = tile(bad, bad_rows, bad_columns); !one.empty()) return one;
    return in_columns + ", and " + in_rows;
  }
  return in_columns + in_rows;
}

BadCounts counts_of(const BadElements& bad) {
  BadCounts counts;
  std::vector<std::int64_t> residues(8);
  for (const std::int64_t index : bad.wrong) {
    const std::int64_t row = index / bad.columns(), column = index % bad.columns();
    counts.last_row += row == bad.rows() - 1 ? 1 : 0;
    counts.last_column += column == bad.columns() - 1 ? 1 : 0;
    ++residues[static_cast<std::size_t>(column % 8)];
  }
  counts.every_eighth_column = *std::max_element(residues.begin(), residues.end());
  for (const std::int64_t size : {16, 32, 64}) {
    const std::int64_t across = (bad.columns() + size - 1) / size;
    std::set<std::int64_t> tiles;
    for (const std::int64_t index : bad.wrong) {
      tiles.insert(index / bad.columns() / size * across + index % bad.columns() / size);
    }
    counts.tiles.push_back(
        {size, static_cast<std::int64_t>(tiles.size()), (bad.rows() + size - 1) / size * across});
  }
  return counts;
}

BadMap map_of(const BadElements& bad) {
  constexpr std::int64_t kMostRows = 24, kMostColumns = 64;
  BadMap map;
  const std::int64_t rows = bad.rows(), columns = bad.columns();
  if (rows == 0 || columns == 0) return map;
  map.rows_each = (rows + kMostRows - 1) / kMostRows;
  map.columns_each = (columns + kMostColumns - 1) / kMostColumns;
  const std::int64_t across = (columns + map.columns_each - 1) / map.columns_each;
  const std::int64_t down = (rows + map.rows_each - 1) / map.rows_each;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(down * across));
  for (const std::int64_t index : bad.wrong) {
    const std::int64_t row = index / columns / map.rows_each;
    ++counts[static_cast<std::size_t>(row * across + index % columns / map.columns_each)];
  }
  for (std::int64_t row = 0; row < down; ++row) {
    const std::int64_t high = std::min(map.rows_each, rows - row * map.rows_each);
    std::string line;
    for (std::int64_t column = 0; column < across; ++column) {
      const std::int64_t wide = std::min(map.columns_each, columns - column * map.columns_each);
      const std::int64_t count = counts[static_cast<std::size_t>(row * across + column)];
      line += count == 0 ? '.' : count == high * wide ? '#' : '+';
    }
    map.lines.push_back(std::move(line));
  }
  return map;
}

}  // namespace halfgrad::testing
