#include "diagram.h"

#include "svg.h"

using course::Anchor;
using course::Svg;

std::string state_diagram() {
  constexpr int kInterval = 4;
  constexpr double kLeft = 70, kTop = 96, kWidth = 96, kHeight = 54, kGap = 48;
  Svg svg(760, 330, "The states of a GradScaler with a growth interval of 4");
  svg.write(20, 30, "States of the scaler: the number of good steps in a row", Anchor::start, 16,
            "ink", true);
  const auto x_of = [](int state) { return kLeft + state * (kWidth + kGap); };
  const double middle = kTop + kHeight / 2, bottom = kTop + kHeight;

  for (int state = 0; state < kInterval; ++state) {
    const double x = x_of(state);
    svg.box(x, kTop, kWidth, kHeight, "pale_one", "one", 8);
    svg.write(x + kWidth / 2, middle + 5, "good = " + std::to_string(state), Anchor::middle, 15,
              "ink", true);
    svg.arrow(x + kWidth, middle, x + kWidth + kGap, middle);
    svg.write(x + kWidth + kGap / 2, middle - 8, "finite", Anchor::middle, 12);
    svg.arrow(x + kWidth / 2, bottom, x + kWidth / 2, 236);
    svg.write(x + kWidth / 2 + 6, 198, "inf, NaN", Anchor::start, 12);
  }
  // Growth: right of the last state, then back above all states.
  const double growth = x_of(kInterval);
  svg.box(growth, kTop, 104, kHeight, "pale_three", "three", 8);
  svg.write(growth + 52, middle - 4, "scale x 2", Anchor::middle, 15, "ink", true);
  svg.write(growth + 52, middle + 16, "step is made", Anchor::middle, 12);
  svg.line(growth + 52, kTop, growth + 52, 62, "ink");
  svg.line(growth + 52, 62, x_of(0) + kWidth / 2, 62, "ink");
  svg.arrow(x_of(0) + kWidth / 2, 62, x_of(0) + kWidth / 2, kTop);
  svg.write((growth + x_of(0)) / 2, 55, "start again at good = 0", Anchor::middle, 12);
  // Back-off: below all states, then back on the left.
  svg.box(x_of(0), 236, x_of(kInterval - 1) + kWidth - x_of(0), kHeight, "pale_four", "four", 8);
  svg.write((x_of(0) + x_of(kInterval - 1) + kWidth) / 2, 260, "scale x 0.5", Anchor::middle, 15,
            "ink", true);
  svg.write((x_of(0) + x_of(kInterval - 1) + kWidth) / 2, 280,
            "the step is skipped: weights and optimizer stay as they were", Anchor::middle, 12);
  svg.line(x_of(0), 263, 30, 263, "ink");
  svg.line(30, 263, 30, middle, "ink");
  svg.arrow(30, middle, x_of(0), middle);
  svg.write(20, 318, "Shown for a growth interval of 4. The default is 2000.", Anchor::start, 12,
            "soft");
  return svg.str();
}
