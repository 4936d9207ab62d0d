// Prints the losses, scales and norms of the example amp_loops --loop clip_norm, exactly.
// test_loop.py compares them with those of the same loop in Python.
#include <cstdio>
#include <cstdlib>

#include "../../examples/amp_loops/loops.h"

int main(int argc, char** argv) {
  const long steps = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 24;
  for (const Step& step : clip_norm(steps)) {
    std::printf("%a %a %d %a\n", step.loss, step.scale, step.skipped ? 1 : 0, step.seen);
  }
}
