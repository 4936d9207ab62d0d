#pragma once
// A picture of who works when, in a machine where the host needs two units of time to launch
// something, and a kernel runs for one.

#include <algorithm>
#include <string>
#include <vector>

#include "svg.h"

namespace timeline {

struct Way {
  std::string name;
  std::vector<int> calls;  ///< kernels queued by each call of a step; 0: the host waits
};

struct Span {
  double from, to;
};

/// The work of host and device in `steps` steps.
struct Schedule {
  std::vector<Span> launches, waits, kernels;
  double end = 0;

  Schedule(const Way& way, int steps) {
    constexpr double kLaunch = 2, kKernel = 1;
    double host = 0, device = 0;
    for (int step = 0; step < steps; ++step) {
      for (const int queued : way.calls) {
        if (queued == 0) {
          waits.push_back({host, std::max(host, device)});
          host = waits.back().to;
          continue;
        }
        launches.push_back({host, host + kLaunch});
        host += kLaunch;
        for (int kernel = 0; kernel < queued; ++kernel) {
          const double start = std::max(host, device);
          kernels.push_back({start, start + kKernel});
          device = start + kKernel;
        }
      }
    }
    end = std::max(host, device);
  }

  /// Share of the time in which the device has nothing to do, in percent.
  double idle_percent() const { return 100 * (1 - static_cast<double>(kernels.size()) / end); }
};

inline std::string picture(const std::vector<Way>& ways, int steps) {
  constexpr double kLeft = 120, kWidth = 620, kRow = 92;
  double longest = 0;
  for (const Way& way : ways) longest = std::max(longest, Schedule(way, steps).end);
  course::Svg svg(kLeft + kWidth + 20, 60 + kRow * static_cast<double>(ways.size()),
                  "Who works when, in three steps");
  svg.write(20, 26, "Who works when, in three steps", course::Anchor::start, 16, "ink", true);
  const auto draw = [&](const std::vector<Span>& spans, double y, const std::string& colour) {
    for (const Span& span : spans) {
      const double x = kLeft + kWidth * span.from / longest;
      svg.box(x, y, std::max(1.0, kWidth * (span.to - span.from) / longest - 1.5), 24, colour);
    }
  };
  double y = 48;
  for (const Way& way : ways) {
    const Schedule schedule(way, steps);
    svg.write(20, y + 30, way.name, course::Anchor::start, 14, "ink", true);
    svg.write(kLeft - 8, y + 17, "CPU", course::Anchor::end, 12, "soft");
    svg.write(kLeft - 8, y + 45, "GPU", course::Anchor::end, 12, "soft");
    draw(schedule.launches, y, "one");
    draw(schedule.waits, y, "pale_four");
    draw(schedule.kernels, y + 28, "three");
    y += kRow;
  }
  svg.write(kLeft, y, "blue: launch; pale red: wait; green: kernel", course::Anchor::start, 12,
            "soft");
  return svg.str();
}

}  // namespace timeline
