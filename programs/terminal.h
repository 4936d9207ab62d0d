#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Text for standard output, whoever reads there. No program writes colours, so NO_COLOR has
/// nothing to switch off; the one escape code is that which clears a line that is redrawn.
namespace programs {

/// Columns of a line: COLUMNS if it is set, else the terminal's, else 80. Output that goes to no
/// terminal, without COLUMNS, has no end of the line: kNoLimit.
inline constexpr int kNoLimit = 1 << 20;
int columns();

/// Whether a line can be redrawn in place: on a terminal that is not TERM=dumb.
bool can_redraw();

/// Columns that UTF-8 text takes up. Each character counts as one.
int width(std::string_view text);

/// The text broken at spaces, and behind `|` and `,` where a word alone is too long. A line that
/// continues another is indented by `indent`.
std::string wrapped(const std::string& text, int columns, int indent);

/// Prints text wrapped to columns(), at most 100.
void print_wrapped(const std::string& text, int indent = 0);

/// A part of a line. Where the line is too long, parts of the highest rank are left out first.
struct Segment {
  std::string text;
  int rank = 0;
};

/// The parts that fit, with two spaces between them.
std::string fitted(std::vector<Segment> segments, int columns);

}  // namespace programs
