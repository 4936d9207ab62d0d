#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Text that fits the terminal. No program writes colours, so NO_COLOR has no effect; the only
/// escape code clears a line before it is redrawn.
namespace programs {

/// Columns of a line: COLUMNS if it is set, else the terminal's width, else 80. kNoLimit if COLUMNS
/// is not set and the output does not go to a terminal.
inline constexpr int kNoLimit = 1 << 20;
int columns();

/// Returns whether a line can be redrawn in place: on a terminal whose TERM is not dumb.
bool can_redraw();

/// Width of UTF-8 text in columns. Each character counts as one.
int width(std::string_view text);

/// Breaks the text at spaces, and after `|` and `,` if a word alone is too long. Indents
/// continuation lines by `indent`.
std::string wrapped(const std::string& text, int columns, int indent);

/// Prints text wrapped to columns(), at most 100.
void print_wrapped(const std::string& text, int indent = 0);

/// A part of a line. If the line is too long, the parts of the highest rank are left out first.
struct Segment {
  std::string text;
  int rank = 0;
};

/// Joins the parts that fit, with two spaces between them.
std::string fitted(std::vector<Segment> segments, int columns);

}  // namespace programs
