#pragma once

#include <string>
#include <vector>

/// Charts of the course: curves and bars with axes, labels and a legend, as SVG text.
namespace course {

/// How an axis is divided: `linear`, or powers of two or of ten at equal distances.
enum class Scale { linear, log2, log10 };

/// One curve, or one bar for each label. `name` is shown in the legend.
struct Series {
  std::string name = {};
  std::vector<double> x = {};  ///< unused by bar_chart
  std::vector<double> y = {};  ///< a NaN or inf interrupts the curve, or leaves out the bar
  bool dashed = false;
};

/// A shaded part of the chart, `from` to `to` on the x axis, with a word at its top. In a bar chart
/// bar i reaches from i to i + 1. `colour` is one of svg.h's, such as "pale_four".
struct Band {
  double from = 0;
  double to = 0;
  std::string label = {};
  std::string colour = "pale_six";
};

/// A dashed line across the chart, for a limit such as 65504.
struct Limit {
  double at = 0;
  std::string label = {};
  bool vertical = false;  ///< at x = `at`; otherwise at y = `at`
};

/// Looks of a chart. An axis ends at round values around the data unless `low` < `high` is given.
struct Axis {
  std::string label = {};
  Scale scale = Scale::linear;
  double low = 0;
  double high = 0;
};

struct Chart {
  std::string title = {};
  Axis x = {};
  Axis y = {};
  std::vector<Band> bands = {};
  std::vector<Limit> limits = {};
  double width = 760;
  double height = 360;
  bool points = false;  ///< a dot at each point of a curve
  int label_every = 1;  ///< bar charts: writes every n-th label
};

/// Draws curves. Values at or below 0 are left out on a logarithmic axis.
std::string line_chart(const Chart& chart, const std::vector<Series>& series);

/// Draws for each label a group of bars, one bar for each series, from 0 (on a logarithmic y axis
/// from its low end). power_of_two(-24) of svg.h makes a label 2^-24.
std::string bar_chart(const Chart& chart, const std::vector<std::string>& labels,
                      const std::vector<Series>& series);

}  // namespace course
