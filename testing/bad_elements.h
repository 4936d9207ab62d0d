#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/core/shape.h>

/// The places of a result's wrong elements. Columns are the last dimension; rows are all others,
/// counted in row-major order.
namespace halfgrad::testing {

/// An element of a result beside its budget.
struct WorstElement {
  std::int64_t index = 0;  ///< in row-major order
  double got = 0, expected = 0, allowed = 0, used = 0;
  std::string output = {};  ///< name of the output that has the element, if there are several
};

/// Elements of one output.
struct BadElements {
  Shape shape;                      ///< shape of the result
  std::vector<std::int64_t> wrong;  ///< ascending, in row-major order
  std::vector<WorstElement> worst;  ///< up to 8, the worst first
  std::string output = {};          ///< name of the output, if there are several

  std::int64_t columns() const { return shape.empty() ? 1 : shape.back(); }
  std::int64_t rows() const { return columns() == 0 ? 0 : numel(shape) / columns(); }
};

/// The index of an element as a tuple: 3 * 17 + 2 in shape [5, 17] is "(3, 2)".
std::string index_tuple(std::int64_t index, const Shape& shape);

/// Says where all wrong elements lie, such as "columns 16 and above", "columns 32 and above, the
/// last 5 of 37", "the last 4 of 37 columns",
/// "every second row", "the tile of 16 x 16 at row 16, column 0" or "the diagonal". Empty if there
/// are fewer than two, or no such description holds.
std::string pattern_of(const BadElements& bad);

/// How many wrong elements lie where kernels often go wrong.
struct BadCounts {
  std::int64_t last_row = 0, last_column = 0;
  std::int64_t every_eighth_column = 0;  ///< most in columns that are equal modulo 8
  struct Tiles {
    std::int64_t size = 0, bad = 0, all = 0;  ///< tiles of size x size with a wrong element, of all
  };
  std::vector<Tiles> tiles;  ///< for sizes of 16, 32 and 64
};
BadCounts counts_of(const BadElements& bad);

/// A picture of up to 24 x 64 characters, one string a row: '.' for right elements, '#' for wrong
/// ones, '+' where a character stands for both.
struct BadMap {
  std::int64_t rows_each = 1, columns_each = 1;  ///< elements for which a character stands
  std::vector<std::string> lines;
};
BadMap map_of(const BadElements& bad);

}  // namespace halfgrad::testing
