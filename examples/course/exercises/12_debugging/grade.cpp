// Grades exercise 12: logs made by rules, against the definition.
#include "grade.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "exercise.h"

namespace {

using grade::Grader;
using Log = std::vector<Step>;

const char* const kNames[] = {"healthy", "scale_too_high", "bad_batch", "broken_model"};

// The definition, batch by batch.
Cause by_definition(const Log& log) {
  std::map<int, Log> of_batch;
  for (const Step& step : log) of_batch[step.batch].push_back(step);
  Cause cause = Cause::healthy;
  for (const Step& step : log) {
    if (!step.loss_is_finite) return Cause::broken_model;
    if (step.skipped) cause = Cause::scale_too_high;
  }
  for (const auto& [batch, steps] : of_batch) {
    if (steps.size() < 2) continue;
    if (!std::all_of(steps.begin(), steps.end(), [](const Step& s) { return s.skipped; })) continue;
    const double smallest =
        std::min_element(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
          return a.scale < b.scale;
        })->scale;
    for (const Step& other : log) {
      if (!other.skipped && other.scale >= smallest) cause = Cause::bad_batch;
    }
  }
  return cause;
}

std::string shown(const Log& log) {
  std::string text;
  for (const Step& step : log) {
    text += (text.empty() ? "batch " : "; batch ") + std::to_string(step.batch) + ", scale " +
            grade::shown(step.scale) + (step.skipped ? ", skipped" : ", applied") +
            (step.loss_is_finite ? "" : ", loss inf");
  }
  return text.empty() ? "an empty log" : text;
}

// Removes steps as long as the student's answer stays wrong.
Log smallest_wrong(Log log) {
  for (std::size_t i = 0; i < log.size();) {
    Log shorter = log;
    shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(i));
    if (diagnose(shorter) != by_definition(shorter)) {
      log = shorter;
    } else {
      ++i;
    }
  }
  return log;
}

void check(Grader& grader, const std::string& name, const std::vector<Log>& logs) {
  grader.run(name, [&] {
    for (const Log& log : logs) {
      if (diagnose(log) == by_definition(log)) continue;
      const Log small = smallest_wrong(log);
      const auto got = static_cast<std::size_t>(diagnose(small));
      grader.yes(name,
                 std::string(kNames[static_cast<std::size_t>(by_definition(small))]) +
                     ", for the log: " + shown(small),
                 false, got < std::size(kNames) ? kNames[got] : "no cause");
      return;
    }
  });
}

// A run of `epochs` epochs of 4 batches with a scaler: a batch is skipped above its own limit.
Log simulated(const std::vector<double>& limits, int epochs, double scale, int broken_from = -1) {
  Log log;
  for (int step = 0; step < epochs * 4; ++step) {
    const int batch = step % 4;
    Step entry{.batch = batch, .scale = scale};
    const bool broken = broken_from >= 0 && step >= broken_from;
    entry.loss_is_finite = !broken;
    entry.skipped = broken || scale > limits[static_cast<std::size_t>(batch)];
    if (entry.skipped) scale /= 2;
    log.push_back(entry);
  }
  return log;
}

std::vector<Log> random_logs(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<Log> logs;
  for (int i = 0; i < 400; ++i) {
    Log log;
    const int steps = below(9);
    for (int step = 0; step < steps; ++step) {
      log.push_back({.batch = below(3),
                     .scale = static_cast<double>(1 << below(4)),
                     .loss_is_finite = below(12) != 0,
                     .skipped = below(2) == 0});
    }
    logs.push_back(log);
  }
  return logs;
}

}  // namespace

int main(int argc, char** argv) {
  Grader grader(argc, argv);
  constexpr double kFine = 1e9, kNever = 0;
  check(grader, "healthy runs", {{}, simulated({kFine, kFine, kFine, kFine}, 2, 1024)});
  check(grader, "a scale that begins too high",
        {simulated({4096, 4096, 4096, 4096}, 4, 65536), simulated({64, 4096, 256, 512}, 4, 65536)});
  check(grader, "a batch that fails at every scale",
        {simulated({kFine, kFine, kNever, kFine}, 4, 1024)});
  check(grader, "a batch that came once", {simulated({kFine, kFine, kNever, kFine}, 1, 1024)});
  check(grader, "all batches fail", {simulated({kNever, kNever, kNever, kNever}, 3, 1024)});
  check(grader, "a batch that failed above the scales of the others",
        {{{.batch = 0, .scale = 64, .skipped = true},
          {.batch = 0, .scale = 32, .skipped = true},
          {.batch = 1, .scale = 16}},
         {{.batch = 0, .scale = 64, .skipped = true},
          {.batch = 0, .scale = 32, .skipped = true},
          {.batch = 1, .scale = 32}}});
  check(grader, "a model that breaks",
        {simulated({kFine, kFine, kFine, kFine}, 3, 1024, 7),
         simulated({kFine, kNever, kFine, kFine}, 3, 64, 9)});
  check(grader, "400 random logs", random_logs(grader.seed() + 1));
  return grader.finish();
}
