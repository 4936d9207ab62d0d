#pragma once

#include <string>
#include <vector>

/// Drawing of pictures as SVG text. Colours are names of classes, which a style sheet inside the
/// picture turns into colours for light and for dark pages.
namespace course {

enum class Anchor { start, middle, end };

/// Colours of fills and lines: `ink` is text, `grid` is pale, `paper` the background, `one` to
/// `six` are data (blue, orange, green, red, purple, grey), readable on light and on dark paper and
/// distinct for colour-blind readers; `pale_one` to `pale_six` are the same as backgrounds.
using Colour = std::string;

/// Name of the i-th data colour, for i from 0: "one", ..., "six", and from the start again.
Colour data_colour(int i);

/// 2 with a raised exponent.
std::string power_of_two(int exponent);

class Svg {
 public:
  /// Starts a picture of this size in pixels. Screen readers read `title`.
  Svg(double width, double height, const std::string& title);

  void box(double x, double y, double width, double height, const Colour& fill,
           const Colour& stroke = "none", double radius = 0);
  void line(double x1, double y1, double x2, double y2, const Colour& stroke = "soft",
            double width = 1, bool dashed = false);
  void arrow(double x1, double y1, double x2, double y2);
  void circle(double x, double y, double radius, const Colour& fill);
  /// Joins the points (x[i], y[i]).
  void curve(const std::vector<double>& x, const std::vector<double>& y, const Colour& stroke,
             double width = 2, bool dashed = false);
  /// Writes words, in which <, > and & are escaped unless they come from power_of_two. `y` is the
  /// base line. `turn` turns the text by degrees around (x, y).
  void write(double x, double y, const std::string& words, Anchor anchor = Anchor::start,
             double size = 13, const Colour& fill = "ink", bool bold = false, double turn = 0);

  /// The whole picture.
  std::string str() const { return text_ + "</svg>\n"; }

 private:
  std::string text_;
};

}  // namespace course
