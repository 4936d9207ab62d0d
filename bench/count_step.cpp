#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "amp_works.h"

// Runs one of bench_amp_step's training steps a number of times on a GPU, for
// tools/count-launches: the difference between two numbers of steps is one step.
//
//   bench_count_step S 3            # three eager steps of work S
//   bench_count_step S 3 --graph    # one eager step, then a captured one replayed three times
//   bench_count_step W64x14 3 --fused --graph    # the same with FusedMLP
//   bench_count_step W64x14 3 --fused --gelu     # with gelu between its layers
//   bench_count_step W64x14 3 --fused --warpgroups    # with
//   backends::cuda::set_allow_warpgroup_mlp() bench_count_step W64x14 3 --batch 512        # with
//   another batch bench_count_step S 3 --four-calls            # unscale_, clip_grad_norm_, step,
//   update bench_count_step S 3 --no-scaler             # clip_grad_norm_, step bench_count_step S
//   3 --half-batch            # a batch that is fp16 already bench_count_step S 3 --graph
//   --two-steps     # a captured graph of two steps bench_count_step S 3 --graph --two-steps
//   --late-updates   # with Optimizer::set_late_updates()
int main(int argc, char** argv) {
  using namespace halfgrad;
  const std::string name = argc > 2 ? argv[1] : "";
  const std::vector<std::string> options(argv + std::min(argc, 3), argv + argc);
  const auto has = [&](const char* option) {
    return std::find(options.begin(), options.end(), option) != options.end();
  };
  const auto batch = std::find(options.begin(), options.end(), "--batch");
  for (bench::Work work : bench::works()) {
    if (name != work.name) continue;
    if (batch != options.end() && batch + 1 != options.end()) work.batch = std::stoll(*(batch + 1));
    const int steps = std::atoi(argv[2]);
    const Device device(kCUDA);
    bench::AmpStep step(work,
                        {.scales_loss = !has("--no-scaler"),
                         .fused = has("--fused"),
                         .four_calls = has("--four-calls"),
                         .half_batch = has("--half-batch"),
                         .late_updates = has("--late-updates"),
                         .gelu = has("--gelu"),
                         .warpgroups = has("--warpgroups")},
                        device);
    std::cout << step.parameters() << " parameters\n";
    if (has("--graph")) {
      step.run();
      Graph graph(device);
      graph.capture([&] {
        step.run();
        if (has("--two-steps")) step.run();
      });
      for (int i = 0; i < steps; ++i) graph.replay();
    } else {
      for (int i = 0; i < steps; ++i) step.run();
    }
    cuda::synchronize(device);
    return 0;
  }
  std::cerr << "bench_count_step: expected a work, a number of steps and perhaps --fused, --gelu, "
               "--warpgroups, --graph, --four-calls, --no-scaler, --half-batch, --batch N, "
               "--two-steps, --late-updates\n";
  return 1;
}
