// docs/distributed.md: its code is that of examples/mnist_mlp/distributed.cpp, which a test runs,
// and its table follows from its assumptions.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "page.h"

namespace halfgrad::tests {
namespace {

constexpr double kParameters = 1.3e9, kTokens = 16384;
constexpr double kCompute = 6 * kParameters * kTokens / (0.4 * 989e12);  // seconds
constexpr double kBytes = 4 * kParameters;                               // gradients

double bandwidth(int gpus) { return gpus <= 8 ? 450e9 : 50e9; }

// Seconds in which a GPU sends its share of all gradients or weights once.
double one_way(int gpus) { return (gpus - 1.0) / gpus * kBytes / bandwidth(gpus); }

// Seconds of an all-reduce that outlast the backward pass.
double visible_all_reduce(int gpus) {
  const double buckets = kBytes / (25 * 1024.0 * 1024.0);
  const double latency = buckets * 2 * std::log2(gpus) * 10e-6;
  return std::max(0.0, 2 * one_way(gpus) + latency - kCompute * 2 / 3);
}

double percent(double sent) { return 100 * kCompute / (kCompute + sent); }

// The blocks after "From [`examples/mnist_mlp/distributed.cpp`](...):".
TEST(DistributedPage, ItsTrainingIsThatOfTheExample) {
  const std::string page = text_of("docs/distributed.md");
  const std::string program = text_of("examples/mnist_mlp/distributed.cpp");
  const std::string named = "[`examples/mnist_mlp/distributed.cpp`]";
  int lines = 0;
  for (std::size_t at = page.find(named); at != page.npos; at = page.find(named, at + 1)) {
    const std::size_t begin = page.find("```cpp\n", at) + 7;
    std::istringstream block(page.substr(begin, page.find("```", begin) - begin));
    for (std::string line; std::getline(block, line);) {
      if (line == "// ...") continue;
      EXPECT_NE(program.find("  " + line), program.npos) << line;
      ++lines;
    }
  }
  EXPECT_EQ(lines, 12);
}

std::string with_digits(const char* format, double x) {
  char text[32];
  std::snprintf(text, sizeof text, format, x);
  return text;
}

TEST(DistributedPage, ItsTableFollowsFromItsAssumptions) {
  Page page("docs/distributed.md");
  page.expect(with_digits("%.3f s, of which backward is 2/3", kCompute));
  for (const int gpus : {8, 64, 512}) {
    const double hidden = visible_all_reduce(gpus);
    std::string row = "| " + std::to_string(gpus) + " | ";
    for (const double sent : {hidden, 2 * one_way(gpus), hidden + one_way(gpus)}) {
      row += with_digits("%.0f %% | ", percent(sent));
    }
    page.expect(row + with_digits("%.3g |", 8 + 8.0 / gpus));
  }
}

}  // namespace
}  // namespace halfgrad::tests
