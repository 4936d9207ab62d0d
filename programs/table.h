#pragma once

#include <string>
#include <vector>

namespace programs {

struct Column {
  std::string header;    ///< of one line or two
  int width = 0;         ///< at least; the header's if that is wider
  int rank = 0;          ///< columns of the highest rank are left out first, those of 0 never
  bool is_text = false;  ///< text is aligned on the left, figures on the right
};

/// A table whose columns are those that fit between the indentation and the end of the line. Rows
/// are printed one by one, as training goes on.
class Table {
 public:
  explicit Table(std::vector<Column> columns, int indent = 0);

  void print_header() const;
  /// A cell for each column, also for those left out.
  void print_row(const std::vector<std::string>& cells) const;
  /// Says which columns were left out, if any were.
  void print_left_out() const;

 private:
  int total_width() const;

  std::vector<Column> columns_;
  std::vector<bool> is_shown_;
  int indent_;
};

}  // namespace programs
