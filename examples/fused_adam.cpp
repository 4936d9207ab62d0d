// Compares Adam as one plain kernel (fused_adam/fused_adam.h) with optim::Adam: both make the same
// steps from the same scaled gradients, and must end with nearly equal parameters. Every fifth step
// has found_inf = 1, and must change nothing.
#include "fused_adam/fused_adam.h"

#include <cstdint>

#include <fmt/core.h>

#include <halfgrad/halfgrad.h>
#include <halfgrad/programs/command_line.h>
#include <halfgrad/programs/option_checks.h>

namespace hg = halfgrad;

namespace {

constexpr std::int64_t kParameters = 10007;
constexpr float kScale = 1024;

// Kernel and optimizer each round p once a step, by at most 1 roundoff. Their updates, of size
// lr = 0.01, differ by less than 1 roundoff.
constexpr double kRoundoffsAStep = 3;

// The largest difference in roundoffs u of float32: |a - b| / (u max(1, |b|)).
double largest_difference(const hg::Tensor& a, const hg::Tensor& b) {
  const hg::Tensor error = (a.to(hg::kDouble) - b.to(hg::kDouble)).abs();
  return (error / b.to(hg::kDouble).abs().clamp_min(1)).max().item() / hg::roundoff(hg::kFloat);
}

void print_row(const char* name, const hg::Tensor& a, const hg::Tensor& b) {
  const auto same = hg::eq(a, b).sum().item<std::int64_t>();
  fmt::print("{}   {:>10}  {:.2f}\n", name, same, largest_difference(a, b));
}

int compare(int steps) {
  const hg::Device device = hg::cuda::is_available() ? hg::kCUDA : hg::kCPU;
  const hg::CreationOptions here{.device = device};
  hg::manual_seed(0);
  const hg::optim::AdamArguments options{.lr = 1e-2};

  // optim::Adam's parameter, and the kernel's arrays.
  const hg::Tensor theirs = hg::randn({kParameters}, here).requires_grad_();
  hg::optim::Adam optimizer({theirs}, options);
  const hg::Tensor p = theirs.detach().clone();
  const hg::Tensor m = hg::zeros_like(p);
  const hg::Tensor v = hg::zeros_like(p);
  const hg::Tensor t = hg::zeros({}, here);
  const hg::Tensor bias_corrections = hg::zeros({2}, {.dtype = hg::kDouble, .device = device});
  const hg::Tensor inv_scale = hg::full({}, 1 / kScale, here);
  const hg::Tensor found_inf = hg::zeros({}, here);

  int updates = 0;
  bool skips_change_nothing = true;
  for (int k = 1; k <= steps; ++k) {
    const hg::Tensor gradient = hg::randn({kParameters}, here) * kScale;
    theirs.set_grad(gradient.clone());
    const bool skip = k % 5 == 0;
    updates += skip ? 0 : 1;
    found_inf.fill_(skip ? 1 : 0);
    const hg::Tensor before = hg::stack({p, m, v, gradient});

    optimizer.step({.inv_scale = &inv_scale.array(), .found_inf = &found_inf.array()});
    double* const corrections = bias_corrections.data_ptr<double>();
    step({.lr = options.lr,
          .beta1 = options.betas.first,
          .beta2 = options.betas.second,
          .eps = options.eps,
          .n = kParameters,
          .p = p.data_ptr<float>(),
          .g = gradient.data_ptr<float>(),
          .m = m.data_ptr<float>(),
          .v = v.data_ptr<float>(),
          .t = t.data_ptr<float>(),
          .bias_correction1 = corrections,
          .bias_correction2 = corrections + 1,
          .inv_scale = inv_scale.data_ptr<float>(),
          .found_inf = found_inf.data_ptr<float>()},
         device);
    if (skip && !hg::equal(hg::stack({p, m, v, gradient}), before)) skips_change_nothing = false;
    if (!hg::equal(gradient, theirs.grad())) {
      fmt::print("step {}: expected the unscaled gradients of optim::Adam, got others\n", k);
      return 1;
    }
  }

  const auto& state = optimizer.state(theirs);
  const hg::Tensor exp_avg(state.at("exp_avg"));
  const hg::Tensor exp_avg_sq(state.at("exp_avg_sq"));
  fmt::print("{} steps of {} parameters on {}, {} skipped\n", steps, kParameters, device.str(),
             steps - updates);
  fmt::print("    same bits  largest difference, in roundoffs\n");
  print_row("p", p, theirs.detach());
  print_row("m", m, exp_avg);
  print_row("v", v, exp_avg_sq);

  const double allowed = kRoundoffsAStep * updates;
  const bool close = largest_difference(p, theirs.detach()) <= allowed;
  const bool same_count = t.item() == state.at("step").item();
  fmt::print("p is {}within {} roundoffs, {} for each update;\n", close ? "" : "NOT ", allowed,
             kRoundoffsAStep);
  fmt::print("the steps counted are {} and {};\n", t.item(), state.at("step").item());
  fmt::print("a skipped step {}\n", skips_change_nothing ? "changes nothing" : "CHANGES p, m or v");
  return close && same_count && skips_change_nothing ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  programs::CommandLine app("fused_adam",
                            "Compares one plain kernel, which unscales the gradients, skips bad "
                            "steps and makes Adam's update, with optim::Adam.");
  int steps = 20;
  app.add_option("--steps", steps, "Steps, of which every fifth is skipped")
      ->check(checks::positive)
      ->capture_default_str();
  app.parse_or_exit(argc, argv);
  return programs::run("fused_adam", [&] { return compare(steps); });
}
