#pragma once

#include <cstdio>
#include <string>
#include <utility>

/// Draws a picture as SVG text, on white paper, so that it is readable in a dark browser too.
namespace halfgrad::tests {

enum class Anchor { start, middle, end };

class Svg {
 public:
  Svg(int width, int height, const std::string& title) {
    const std::string size = number(width) + " " + number(height);
    text_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + size + "\" width=\"" +
            number(width) + "\" font-family=\"Helvetica, Arial, sans-serif\">\n<title>" + title +
            "</title>\n<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" "
            "markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" "
            "fill=\"#333\"/></marker></defs>\n";
    box(0, 0, width, height, "#ffffff");
  }

  void box(double x, double y, double width, double height, const std::string& fill,
           const std::string& stroke = "none", double radius = 0) {
    text_ += "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(width) +
             "\" height=\"" + number(height) + "\" rx=\"" + number(radius) + "\" fill=\"" + fill +
             "\" stroke=\"" + stroke + "\"/>\n";
  }
  void line(double x1, double y1, double x2, double y2, const std::string& stroke = "#999") {
    segment(x1, y1, x2, y2, stroke, "");
  }
  void arrow(double x1, double y1, double x2, double y2) {
    segment(x1, y1, x2, y2, "#333", " marker-end=\"url(#tip)\"");
  }
  void write(double x, double y, const std::string& words, Anchor anchor = Anchor::start,
             int size = 13, const std::string& fill = "#111", bool bold = false) {
    const char* const anchors[] = {"start", "middle", "end"};
    text_ += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" font-size=\"" + number(size) +
             "\" fill=\"" + fill + "\" text-anchor=\"" + anchors[static_cast<int>(anchor)] + "\"" +
             (bold ? " font-weight=\"bold\"" : "") + ">" + words + "</text>\n";
  }
  std::string str() const { return text_ + "</svg>\n"; }

 private:
  static std::string number(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.5g", x);
    return text;
  }
  void segment(double x1, double y1, double x2, double y2, const std::string& stroke,
               const std::string& more) {
    text_ += "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) +
             "\" y2=\"" + number(y2) + "\" stroke=\"" + stroke + "\"" + more + "/>\n";
  }

  std::string text_;
};

}  // namespace halfgrad::tests
