// Chapter 8, master weights: updates that a 16-bit weight cannot take, and the float32 copy that
// can.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/halfgrad.h>

#include "course.h"
namespace hg = halfgrad;

namespace {

/// One weight of 1 whose gradient is `gradient` in each step, with a learning rate of 0.0001.
/// Returns the number of the step in which the fp16 weight changed for the first time; 0: never.
int first_change(double gradient, bool with_master, bool prints) {
  const hg::Tensor weight = hg::ones({1}, hg::kHalf).requires_grad_();
  hg::optim::SGD optimizer({weight}, {.lr = 1e-4});
  std::optional<hg::amp::MasterWeights> masters;
  if (with_master) masters.emplace(optimizer);
  int first = 0;
  for (int step = 1; step <= 10; ++step) {
    optimizer.zero_grad();
    (weight * gradient).sum().backward();
    optimizer.step();
    if (weight.item() != 1 && first == 0) first = step;
    if (prints) {
      std::printf("step %2d: fp16 weight %.6f", step, weight.item());
      if (masters) std::printf(", master %.6f", masters->master(weight).item());
      std::printf("\n");
    }
  }
  return first;
}

void show_one_weight(course::Chapter& chapter) {
  std::printf("A weight of 1 that should fall by 0.0001 in each of ten steps, with a master:\n");
  chapter.fact("first_change", first_change(1, true, true));
  chapter.fact("first_change_up", first_change(-1, true, false));
  chapter.fact("first_change_alone", first_change(1, false, false));
}

/// Dtype of the weights, and whether they have masters.
struct Weights {
  std::string name;
  hg::DType dtype = hg::kFloat32;
  bool masters = false;
};

struct Training {
  std::vector<double> steps, losses;  ///< every 300 steps
  double loss = 0;
  double percent_unchanged =
      0;  ///< share of weights that a step leaves as they are, last 100 steps
  std::vector<hg::Tensor> weights, updates;  ///< before the last step, and what it added
};

/// Trains a network 4-64-1 on a sine with plain SGD.
Training train(int steps, const Weights& weights) {
  hg::manual_seed(0);
  const hg::Tensor x = hg::rand({128, 4}) * 2 - 1;
  const hg::Tensor target = hg::sin(hg::matmul(x, hg::randn({4, 1})) * 2);
  auto model = hg::nn::Sequential(hg::nn::Linear(4, 64), hg::nn::ReLU(), hg::nn::Linear(64, 1));
  model.to(weights.dtype);
  const hg::Tensor input = x.to(weights.dtype);
  const std::vector<hg::Tensor> parameters = model.parameters();
  hg::optim::SGD optimizer(parameters, {.lr = 0.03});
  std::optional<hg::amp::MasterWeights> masters;
  if (weights.masters) masters.emplace(optimizer);
  Training training;
  double unchanged = 0, seen = 0;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    const hg::Tensor loss = hg::mse_loss(model(input).to(hg::kFloat32), target);
    loss.backward();
    std::vector<hg::Tensor> before;
    if (step >= steps - 100) {
      for (const hg::Tensor& parameter : parameters) before.push_back(parameter.detach().clone());
    }
    optimizer.step();
    for (std::size_t i = 0; i < before.size(); ++i) {
      unchanged += (parameters[i].detach() == before[i]).sum().item();
      seen += static_cast<double>(before[i].numel());
    }
    if (step == steps - 1) {
      training.weights = before;
      for (std::size_t i = 0; i < before.size(); ++i) {
        training.updates.push_back(parameters[i].detach() - before[i]);
      }
    }
    training.loss = loss.item();
    if (step % 300 != 0) continue;
    training.steps.push_back(step);
    training.losses.push_back(std::round(training.loss * 100) / 100);
  }
  training.percent_unchanged = 100 * unchanged / seen;
  return training;
}

/// Share of the fp32 updates that would vanish if the weights were of `dtype`, in percent.
double percent_lost(const Training& training, hg::DType dtype) {
  double lost = 0, count = 0;
  for (std::size_t i = 0; i < training.weights.size(); ++i) {
    const hg::Tensor rounded = training.weights[i].to(dtype);
    const hg::Tensor updated = (rounded.to(hg::kFloat32) + training.updates[i]).to(dtype);
    lost += (updated == rounded).sum().item();
    count += static_cast<double>(rounded.numel());
  }
  return 100 * lost / count;
}

// Rounded facts: with 16-bit weights one rounding that falls the other way moves all later ones.
void show_training(course::Chapter& chapter) {
  const std::vector<Weights> kinds = {{"fp32"},
                                      {"fp16", hg::kHalf},
                                      {"fp16_master", hg::kHalf, true},
                                      {"bf16", hg::kBFloat16},
                                      {"bf16_master", hg::kBFloat16, true}};
  std::printf(
      "\n%d steps of SGD; the last loss, and the share of weights that a step left as they "
      "were:\n",
      chapter.steps());
  std::vector<course::Series> curves;
  for (const Weights& weights : kinds) {
    const Training training = train(chapter.steps(), weights);
    chapter.fact("loss_" + weights.name, std::round(training.loss * 100) / 100);
    chapter.fact("unchanged_" + weights.name, std::round(training.percent_unchanged / 5) * 5);
    if (weights.name == "fp32") {
      chapter.fact("lost_fp16", std::round(percent_lost(training, hg::kHalf) / 10) * 10);
      chapter.fact("lost_bf16", std::round(percent_lost(training, hg::kBFloat16) / 10) * 10);
    }
    std::string name = weights.name;
    if (weights.masters) name.replace(name.find('_'), 1, ", ");
    curves.push_back(
        {.name = name, .x = training.steps, .y = training.losses, .dashed = weights.masters});
  }
  chapter.picture(
      "loss", course::line_chart(
                  {.title = "Loss by the dtype of the weights",
                   .x = {.label = "step", .low = 0, .high = static_cast<double>(chapter.steps())},
                   .y = {.label = "loss", .low = 0, .high = 0.5}},
                  curves));
}

}  // namespace

int main(int argc, char** argv) {
  course::Chapter chapter(argc, argv,
                          {.slug = "08_master_weights",
                           .does = "Trains with 16-bit weights, with and without float32 masters.",
                           .steps = 3000});
  return chapter.run([&] {
    show_one_weight(chapter);
    show_training(chapter);
  });
}
