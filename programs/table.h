#pragma once

#include <string>
#include <vector>

namespace programs {

struct Column {
  std::string header;    ///< one line or two
  int width = 0;         ///< smallest width; a wider header widens the column
  int rank = 0;          ///< columns of the highest rank are left out first, rank 0 never
  bool is_text = false;  ///< aligns on the left; otherwise on the right, for figures
};

/// A table that leaves out columns until a row fits the terminal's width. Prints rows one by one,
/// while a training runs.
class Table {
 public:
  explicit Table(std::vector<Column> columns, int indent = 0);

  void print_header() const;
  /// `cells` has one cell for each column, also for those left out.
  void print_row(const std::vector<std::string>& cells) const;
  /// Prints which columns were left out, if any.
  void print_left_out() const;

 private:
  int total_width() const;

  std::vector<Column> columns_;
  std::vector<bool> is_shown_;
  int indent_;
};

}  // namespace programs
