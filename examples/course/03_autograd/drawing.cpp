#include "drawing.h"

#include <cmath>
#include <string>
#include <vector>

#include "chart.h"
#include "svg.h"

namespace {

struct Box {
  double x, y;
  const char* name;
  const char* value;
  const char* gradient;
  bool is_leaf;
};

void draw_box(course::Svg& svg, const Box& box) {
  svg.box(box.x, box.y, 104, 58, box.is_leaf ? "pale_six" : "pale_one", box.is_leaf ? "six" : "one",
          6);
  svg.write(box.x + 52, box.y + 18, box.name, course::Anchor::middle, 14, "ink", true);
  svg.write(box.x + 52, box.y + 35, box.value, course::Anchor::middle, 12);
  svg.write(box.x + 52, box.y + 51, box.gradient, course::Anchor::middle, 12, "four");
}

}  // namespace

// The boxes of y = a + 3 a with a = x^2 at x = 3, laid out by hand.
std::string draw_graph() {
  course::Svg svg(760, 250, "The graph of y = a + 3 a with a = x squared, with gradients");
  svg.write(20, 26, "y = a + 3 a with a = x\xC2\xB2: values forward, gradients (red) backward",
            course::Anchor::start, 16, "ink", true);
  const Box boxes[] = {{20, 90, "x", "x = 3", "24 = 4 * 2x", true},
                       {190, 90, "a = x * x", "a = 9", "4 = 1 + 3", false},
                       {360, 160, "b = 3 * a", "b = 27", "1", false},
                       {190, 176, "3", "3", "9", true},
                       {590, 90, "y = a + b", "y = 36", "1", false}};
  for (const Box& box : boxes) draw_box(svg, box);
  svg.arrow(124, 112, 190, 112);
  svg.arrow(124, 128, 190, 128);
  svg.arrow(294, 110, 590, 110);
  svg.arrow(294, 132, 360, 172);
  svg.arrow(294, 206, 360, 200);
  svg.arrow(464, 180, 590, 132);
  svg.write(20, 74, "order of backward:", course::Anchor::start, 12, "soft");
  svg.write(642, 84, "1st", course::Anchor::middle, 12, "soft");
  svg.write(412, 154, "2nd", course::Anchor::middle, 12, "soft");
  svg.write(242, 84, "3rd: after both uses", course::Anchor::middle, 12, "soft");
  return svg.str();
}

std::string draw_fit(const engine::Matrix& before, const engine::Matrix& after) {
  course::Series target{.name = "sin(3 x)", .dashed = true};
  course::Series untrained{.name = "before"};
  course::Series trained{.name = "after training"};
  for (std::size_t i = 0; i < before.rows; ++i) {
    const double x = 2 * static_cast<double>(i) / static_cast<double>(before.rows - 1) - 1;
    for (course::Series* series : {&target, &untrained, &trained}) series->x.push_back(x);
    target.y.push_back(std::sin(3 * x));
    untrained.y.push_back(before.data[i]);
    trained.y.push_back(after.data[i]);
  }
  return course::line_chart({.title = "A network of 25 parameters, trained by our own engine",
                             .x = {.label = "x"},
                             .y = {.label = "y", .low = -2, .high = 2}},
                            {target, untrained, trained});
}

std::string draw_losses(const std::vector<double>& losses) {
  course::Series series;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    series.x.push_back(static_cast<double>(i));
    series.y.push_back(losses[i]);
  }
  return course::line_chart({.title = "The loss during training",
                             .x = {.label = "step"},
                             .y = {.label = "mean squared error", .scale = course::Scale::log2},
                             .height = 280},
                            {series});
}
