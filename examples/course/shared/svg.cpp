#include "svg.h"

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace course {
namespace {

constexpr const char* kDataColours[] = {"one", "two", "three", "four", "five", "six"};

// Light colours, then the dark page's. The contrast of "ink" and "soft" with "paper" exceeds 4.5.
constexpr const char* kStyle =
    R"(<style>
)"
    R"(svg{--paper:#fff;--ink:#1a1a1a;--soft:#5c5c5c;--grid:#dedede;--one:#2b6cb0;)"
    R"(--two:#c05f00;--three:#1e7d4f;--four:#b3261e;--five:#7a4fb5;--six:#6b6b6b;)"
    R"(--pale_one:#dcebfa;--pale_two:#fdebd3;--pale_three:#dff3e6;--pale_four:#fbe0de;)"
    R"(--pale_five:#ebe2f7;--pale_six:#efefef}
)"
    R"(@media (prefers-color-scheme:dark){svg{--paper:#14171c;--ink:#ececec;--soft:#a9afb8;)"
    R"(--grid:#343a43;--one:#6fb1f2;--two:#f0a04b;--three:#5fc48f;--four:#f2857c;)"
    R"(--five:#bb9af0;--six:#b0b0b0;--pale_one:#1b3149;--pale_two:#46300f;)"
    R"(--pale_three:#17382a;--pale_four:#4a2220;--pale_five:#33274a;--pale_six:#2a2e35}}
)"
    R"(text{font-family:Helvetica,Arial,sans-serif}
)"
    R"(</style>
)";

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", x + 0.0);
  std::string shown = text;
  while (shown.back() == '0') shown.pop_back();
  if (shown.back() == '.') shown.pop_back();
  return shown == "-0" ? "0" : shown;
}

std::string paint(const char* property, const Colour& colour) {
  const std::string value = colour == "none" ? "none" : "var(--" + colour + ")";
  return std::string(property) + ":" + value;
}

std::string stroke_of(const Colour& stroke, double width, bool dashed) {
  return paint("stroke", stroke) + ";stroke-width:" + number(width) +
         (dashed ? ";stroke-dasharray:6 4" : "");
}

// Escapes characters that have a meaning in SVG, except in the <tspan> of power_of_two.
std::string escaped(const std::string& words) {
  std::string result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words.compare(i, 6, "<tspan") == 0 || words.compare(i, 7, "</tspan") == 0) {
      const std::size_t end = words.find('>', i);
      result += words.substr(i, end + 1 - i);
      i = end;
    } else if (words[i] == '<') {
      result += "&lt;";
    } else if (words[i] == '>') {
      result += "&gt;";
    } else if (words[i] == '&') {
      result += "&amp;";
    } else {
      result += words[i];
    }
  }
  return result;
}

}  // namespace

Colour data_colour(int i) { return kDataColours[i % 6]; }

std::string power_of_two(int exponent) {
  const std::string sign = exponent < 0 ? "\xE2\x88\x92" : "";
  return "2<tspan baseline-shift=\"super\" font-size=\"75%\">" + sign +
         std::to_string(std::abs(exponent)) + "</tspan>";
}

Svg::Svg(double width, double height, const std::string& title) {
  text_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(width) + " " +
          number(height) + "\" width=\"" + number(width) + "\" role=\"img\">\n<title>" +
          escaped(title) + "</title>\n" + kStyle;
  box(0, 0, width, height, "paper");
}

void Svg::box(double x, double y, double width, double height, const Colour& fill,
              const Colour& stroke, double radius) {
  text_ += "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(width) +
           "\" height=\"" + number(height) + "\" rx=\"" + number(radius) + "\" style=\"" +
           paint("fill", fill) + ";" + paint("stroke", stroke) + "\"/>\n";
}

void Svg::line(double x1, double y1, double x2, double y2, const Colour& stroke, double width,
               bool dashed) {
  text_ += "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) +
           "\" y2=\"" + number(y2) + "\" style=\"" + stroke_of(stroke, width, dashed) + "\"/>\n";
}

void Svg::arrow(double x1, double y1, double x2, double y2) {
  line(x1, y1, x2, y2, "soft", 1.5);
  const double length = std::sqrt((x2 - x1) * (x2 - x1) + (y2 - y1) * (y2 - y1));
  if (length == 0) return;
  const double dx = (x2 - x1) / length;
  const double dy = (y2 - y1) / length;
  text_ += "<path d=\"M" + number(x2) + " " + number(y2) + "L" + number(x2 - 8 * dx - 4 * dy) +
           " " + number(y2 - 8 * dy + 4 * dx) + "L" + number(x2 - 8 * dx + 4 * dy) + " " +
           number(y2 - 8 * dy - 4 * dx) + "z\" style=\"" + paint("fill", "soft") + "\"/>\n";
}

void Svg::circle(double x, double y, double radius, const Colour& fill) {
  text_ += "<circle cx=\"" + number(x) + "\" cy=\"" + number(y) + "\" r=\"" + number(radius) +
           "\" style=\"" + paint("fill", fill) + "\"/>\n";
}

void Svg::curve(const std::vector<double>& x, const std::vector<double>& y, const Colour& stroke,
                double width, bool dashed) {
  text_ += "<polyline points=\"";
  for (std::size_t i = 0; i < x.size(); ++i) {
    text_ += (i == 0 ? "" : " ") + number(x[i]) + "," + number(y[i]);
  }
  text_ +=
      "\" style=\"fill:none;" + stroke_of(stroke, width, dashed) + ";stroke-linejoin:round\"/>\n";
}

void Svg::write(double x, double y, const std::string& words, Anchor anchor, double size,
                const Colour& fill, bool bold, double turn) {
  const char* const anchors[] = {"start", "middle", "end"};
  text_ +=
      "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" font-size=\"" + number(size) +
      "\" text-anchor=\"" + anchors[static_cast<int>(anchor)] + "\"" +
      (bold ? " font-weight=\"bold\"" : "") +
      (turn != 0 ? " transform=\"rotate(" + number(turn) + " " + number(x) + " " + number(y) + ")\""
                 : "") +
      " style=\"" + paint("fill", fill) + "\">" + escaped(words) + "</text>\n";
}

}  // namespace course
