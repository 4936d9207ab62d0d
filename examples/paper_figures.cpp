// Tables and figures like those of Micikevicius et al. 2018, "Mixed precision training", on small
// networks, in about half a minute. docs/paper.md puts them beside the paper's. See --help.
#include <string>
#include <vector>

#include <halfgrad/programs/command_line.h>

#include "paper_figures/task.h"

int main(int argc, char** argv) {
  programs::CommandLine app(
      "paper_figures",
      "Computes tables and figures of \"Mixed precision training\" (arXiv 1710.03740) on small "
      "networks.");
  std::string figure = "all";
  int steps = 1000000, seeds = 5;
  app.add_option("--figure", figure, "gradients, accuracy, scale, masters, or all")
      ->check(CLI::IsMember({"gradients", "accuracy", "scale", "masters", "all"}))
      ->capture_default_str();
  app.add_option("--steps", steps, "End each training after N steps")
      ->check(CLI::Range(1, 1000000))
      ->option_text("N");
  app.add_option("--seeds", seeds, "Seeds for means and deviations")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.parse_or_exit(argc, argv);
  return programs::run("paper_figures", [&] {
    const auto wants = [&](const char* name) { return figure == "all" || figure == name; };
    if (wants("gradients")) paper::show_gradient_share(steps);
    if (wants("accuracy")) paper::show_accuracy(steps, seeds);
    if (wants("scale")) paper::show_divergence(steps);
    if (wants("masters")) paper::show_masters(steps, seeds);
    return 0;
  });
}
