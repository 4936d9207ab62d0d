#include "chart.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>

#include "svg.h"

namespace course {
namespace {

constexpr double kLeft = 76;
constexpr double kRight = 20;
constexpr double kTop = 74;
constexpr double kBottom = 56;

// One axis: from values to pixels.
struct Ruler {
  Scale scale = Scale::linear;
  double low = 0;
  double high = 1;
  double from = 0;
  double to = 1;

  double place(double value) const {
    if (scale == Scale::linear) return value;
    return scale == Scale::log2 ? std::log2(value) : std::log10(value);
  }
  bool holds(double value) const {
    return std::isfinite(value) && (scale == Scale::linear || value > 0);
  }
  double at(double value) const {
    const double share = (place(value) - place(low)) / (place(high) - place(low));
    return from + (to - from) * std::clamp(share, 0.0, 1.0);
  }
};

// A round distance between ticks: 1, 2 or 5 times a power of ten.
double round_step(double span) {
  const double power = std::pow(10.0, std::floor(std::log10(span / 5)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (span / (factor * power) <= 6) return factor * power;
  }
  return 10 * power;
}

Ruler ruler_for(const Axis& axis, const std::vector<double>& values) {
  Ruler ruler{.scale = axis.scale};
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const double value : values) {
    if (!ruler.holds(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high) low = high = 1;
  if (axis.low < axis.high) {
    low = axis.low;
    high = axis.high;
  } else if (axis.scale == Scale::linear) {
    if (low == high) high = low + 1;
    const double step = round_step(high - low);
    low = step * std::floor(low / step);
    high = step * std::ceil(high / step);
  } else {
    const double base = axis.scale == Scale::log2 ? 2 : 10;
    low = std::pow(base, std::floor(ruler.place(low)));
    high = std::pow(base, std::ceil(ruler.place(high)));
    if (low == high) high *= base;
  }
  ruler.low = low;
  ruler.high = high;
  return ruler;
}

std::vector<double> ticks(const Ruler& ruler) {
  std::vector<double> result;
  if (ruler.scale == Scale::linear) {
    const double step = round_step(ruler.high - ruler.low);
    const double first = std::ceil(ruler.low / step - 1e-9);
    for (int i = 0; step * (first + i) <= ruler.high + 1e-9 * step; ++i) {
      result.push_back(step * (first + i));
    }
    return result;
  }
  const double first = std::ceil(ruler.place(ruler.low) - 1e-9);
  const double last = std::floor(ruler.place(ruler.high) + 1e-9);
  const double step = std::max(1.0, std::ceil((last - first) / 8));
  for (double power = step * std::ceil(first / step); power <= last; power += step) {
    result.push_back(std::pow(ruler.scale == Scale::log2 ? 2.0 : 10.0, power));
  }
  return result;
}

std::string shown(double value, Scale scale) {
  if (scale == Scale::log2) return power_of_two(static_cast<int>(std::lround(std::log2(value))));
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// Title, legend, bands and axes; then the caller draws the data.
struct Frame {
  Svg svg;
  Ruler x;
  Ruler y;

  Frame(const Chart& chart, Ruler along_x, Ruler along_y)
      : svg(chart.width, chart.height, chart.title), x(along_x), y(along_y) {
    x.from = kLeft;
    x.to = chart.width - kRight;
    y.from = chart.height - kBottom;
    y.to = kTop;
    svg.write(20, 26, chart.title, Anchor::start, 16, "ink", true);
    for (const Band& band : chart.bands) {
      const double left = x.at(band.from);
      svg.box(left, y.to, x.at(band.to) - left, y.from - y.to, band.colour);
    }
    for (const double value : ticks(y)) {
      svg.line(x.from, y.at(value), x.to, y.at(value), "grid");
      svg.write(x.from - 8, y.at(value) + 4, shown(value, y.scale), Anchor::end, 12, "soft");
    }
    for (const Band& band : chart.bands) name(band);
    svg.line(x.from, y.from, x.to, y.from, "soft");
    svg.write((x.from + x.to) / 2, chart.height - 12, chart.x.label, Anchor::middle, 13, "ink");
    svg.write(18, (y.from + y.to) / 2, chart.y.label, Anchor::middle, 13, "ink", false, -90);
  }

  // A box of the band's colour keeps grid lines out of the label.
  void name(const Band& band) {
    if (band.label.empty()) return;
    const double left = x.at(band.from), right = x.at(band.to), middle = (left + right) / 2;
    const double width = std::min(right - left, 7.2 * static_cast<double>(band.label.size()));
    svg.box(middle - width / 2, y.to + 3, width, 16, band.colour);
    svg.write(middle, y.to + 15, band.label, Anchor::middle, 12, "soft");
  }

  void tick(double at, const std::string& label) {
    svg.line(at, y.from, at, y.from + 5);
    svg.write(at, y.from + 20, label, Anchor::middle, 12, "soft");
  }

  void legend(const std::vector<Series>& series) {
    double left = kLeft;
    for (std::size_t i = 0; i < series.size(); ++i) {
      if (series[i].name.empty()) continue;
      svg.line(left, 48, left + 24, 48, data_colour(static_cast<int>(i)), 4, series[i].dashed);
      svg.write(left + 30, 52, series[i].name);
      left += 54 + 7.2 * static_cast<double>(series[i].name.size());
    }
  }

  void limits(const std::vector<Limit>& limits) {
    for (const Limit& limit : limits) {
      if (limit.vertical) {
        svg.line(x.at(limit.at), y.from, x.at(limit.at), y.to, "four", 1.5, true);
        const bool is_right = x.at(limit.at) > x.from + 0.8 * (x.to - x.from);
        svg.write(x.at(limit.at) + (is_right ? -5 : 5), y.to + 30, limit.label,
                  is_right ? Anchor::end : Anchor::start, 12, "four");
      } else {
        svg.line(x.from, y.at(limit.at), x.to, y.at(limit.at), "four", 1.5, true);
        svg.write(x.to - 4, y.at(limit.at) - 5, limit.label, Anchor::end, 12, "four");
      }
    }
  }
};

std::vector<double> all_values(const std::vector<Series>& series,
                               std::vector<double> Series::*values,
                               const std::vector<Limit>& limits, bool vertical) {
  std::vector<double> all;
  for (const Series& one : series) {
    all.insert(all.end(), (one.*values).begin(), (one.*values).end());
  }
  for (const Limit& limit : limits) {
    if (limit.vertical == vertical) all.push_back(limit.at);
  }
  return all;
}

}  // namespace

std::string line_chart(const Chart& chart, const std::vector<Series>& series) {
  Frame frame(chart, ruler_for(chart.x, all_values(series, &Series::x, chart.limits, true)),
              ruler_for(chart.y, all_values(series, &Series::y, chart.limits, false)));
  for (const double value : ticks(frame.x)) {
    frame.tick(frame.x.at(value), shown(value, frame.x.scale));
  }
  frame.limits(chart.limits);
  for (std::size_t i = 0; i < series.size(); ++i) {
    const Series& one = series[i];
    const Colour colour = data_colour(static_cast<int>(i));
    std::vector<double> x;
    std::vector<double> y;
    const auto draw = [&] {
      if (x.size() > 1) frame.svg.curve(x, y, colour, 2, one.dashed);
      x.clear();
      y.clear();
    };
    for (std::size_t j = 0; j < one.y.size(); ++j) {
      if (!frame.y.holds(one.y[j]) || !frame.x.holds(one.x[j])) {
        draw();
        continue;
      }
      x.push_back(frame.x.at(one.x[j]));
      y.push_back(frame.y.at(one.y[j]));
      if (chart.points) frame.svg.circle(x.back(), y.back(), 3, colour);
    }
    draw();
  }
  frame.legend(series);
  return frame.svg.str();
}

std::string bar_chart(const Chart& chart, const std::vector<std::string>& labels,
                      const std::vector<Series>& series) {
  const auto count = static_cast<double>(labels.size());
  std::vector<double> heights = all_values(series, &Series::y, chart.limits, false);
  if (chart.y.scale == Scale::linear) heights.push_back(0);
  Frame frame(chart, Ruler{.low = 0, .high = count}, ruler_for(chart.y, heights));
  const double group = (frame.x.to - frame.x.from) / count;
  const double width = group * 0.8 / static_cast<double>(std::max<std::size_t>(1, series.size()));
  for (std::size_t i = 0; i < series.size(); ++i) {
    for (std::size_t j = 0; j < labels.size() && j < series[i].y.size(); ++j) {
      if (!frame.y.holds(series[i].y[j])) continue;
      const double zero = frame.y.scale == Scale::linear ? frame.y.at(0) : frame.y.from;
      const double end = frame.y.at(series[i].y[j]);
      const double left =
          frame.x.from + group * (static_cast<double>(j) + 0.1) + width * static_cast<double>(i);
      frame.svg.box(left, std::min(zero, end), width, std::fabs(end - zero),
                    data_colour(static_cast<int>(i)));
    }
  }
  for (std::size_t j = 0; j < labels.size(); ++j) {
    if (static_cast<int>(j) % std::max(1, chart.label_every) == 0) {
      frame.tick(frame.x.from + group * (static_cast<double>(j) + 0.5), labels[j]);
    }
  }
  frame.limits(chart.limits);
  frame.legend(series);
  return frame.svg.str();
}

}  // namespace course
