#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad::data {

namespace detail {
struct CsvText;
}

/// A column of categories as indices into the list of their names.
struct Categories {
  Tensor indices;                  ///< int64 [rows]
  std::vector<std::string> names;  ///< each once, sorted
};

struct FloatOptions {
  std::optional<double> missing = std::nullopt;  ///< stands in for a missing value
};

/// Named columns of text that load_csv() has read. The caller says what a column means:
///
///   data::Table table = data::load_csv("flowers.csv");
///   Tensor x = table.floats({"sepal_length", "petal_length"});
///   auto [y, names] = table.categories("species");
///
/// An element that does not fit throws FormatError with its column and line:
///     load_csv: expected a number in column "age", got "abc" (line 12) in people.csv at byte 203
/// A missing element throws, too, unless an option says what stands in for it. A name that is no
/// column throws std::invalid_argument. Copies share the text.
class Table {
 public:
  explicit Table(std::shared_ptr<const detail::CsvText> text);

  std::int64_t size() const { return static_cast<std::int64_t>(rows_.size()); }  ///< rows
  const std::vector<std::string>& columns() const;

  /// Returns the numbers of these columns, float32 `[rows, columns]`. Refuses text, infinity, and
  /// what float32 cannot hold.
  Tensor floats(const std::vector<std::string>& columns, FloatOptions options = {}) const;
  /// Returns the whole numbers of a column, int64 `[rows]`: class labels. Accepts "3.0", which
  /// pandas writes for 3 in a column with missing values.
  Tensor integers(const std::string& column) const;
  /// Returns the index of each row's text among the different texts of the column.
  Categories categories(const std::string& column) const;
  /// Returns the index of each row's text among `names`, int64 `[rows]`. A text that is not among
  /// them throws: a model knows the categories of its training data only.
  Tensor categories(const std::string& column, const std::vector<std::string>& names) const;
  /// Returns true for each row whose element is missing, bool `[rows]`.
  Tensor is_missing(const std::string& column) const;
  /// Returns the text of each row, without quotes.
  std::vector<std::string> texts(const std::string& column) const;

  /// Returns the rows in which no element of these columns is missing; of all columns by default.
  Table without_missing(const std::vector<std::string>& columns = {}) const;

  /// Prints for each column its name, its smallest and largest number or its different texts, and
  /// how many elements are missing.
  friend std::ostream& operator<<(std::ostream& out, const Table& table);

 private:
  std::size_t position(const std::string& column) const;

  std::shared_ptr<const detail::CsvText> text_;
  std::vector<std::size_t> rows_;  // records of the text
};

}  // namespace halfgrad::data
