#include "task.h"

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <halfgrad/data/data_loader.h>
#include <halfgrad/data/synthetic.h>

namespace hg = halfgrad;

namespace paper {
namespace {

constexpr std::int64_t kPixels = 784;

std::pair<hg::Tensor, hg::Tensor> images(std::int64_t count, std::uint64_t seed) {
  const auto set = hg::data::synthetic_digits(count, seed);
  return {hg::tensor(set.pixels, {count, kPixels}).to(hg::kFloat32) / 255, hg::tensor(set.labels)};
}

double accuracy(const hg::Tensor& logits, const hg::Tensor& labels) {
  return 100 * (logits.argmax(1) == labels).to(hg::kFloat32).mean().item();
}

/// R^2 in percent: 0 for a model that answers the mean.
double r_squared(const hg::Tensor& output, const hg::Tensor& y) {
  const hg::Tensor error = hg::square(output.to(hg::kFloat32) - y).sum();
  return 100 * (1 - (error / hg::square(y - y.mean({0})).sum()).item());
}

Task image_task(const std::string& name) {
  Task task{.name = name};
  std::tie(task.x, task.y) = images(4000, 1);
  std::tie(task.test_x, task.test_y) = images(2000, 2);
  task.loss = [](const hg::Tensor& logits, const hg::Tensor& y) {
    return hg::cross_entropy(logits, y);
  };
  task.score = accuracy;
  return task;
}

}  // namespace

Task digits() {
  Task task = image_task("digits");
  task.make_model = [] {
    return hg::nn::Sequential(hg::nn::Linear(kPixels, 64), hg::nn::ReLU(), hg::nn::Linear(64, 32),
                              hg::nn::ReLU(), hg::nn::Linear(32, 10));
  };
  return task;
}

Task deep_digits() {
  Task task = image_task("deep_digits");
  task.make_model = [] {
    hg::nn::Sequential model;
    std::int64_t inputs = kPixels;
    for (int layer = 0; layer < 7; ++layer) {
      model.push_back(hg::nn::Linear(inputs, 48));
      model.push_back(hg::nn::LayerNorm({48}));
      model.push_back(hg::nn::GELU());
      inputs = 48;
    }
    model.push_back(hg::nn::Linear(inputs, 10));
    return model;
  };
  return task;
}

Task membrane() {
  using hg::data::MembraneLoads;
  constexpr std::int64_t kPoints = MembraneLoads::kSide * MembraneLoads::kSide;
  const auto load = [](std::int64_t count, std::uint64_t seed) {
    const MembraneLoads set = hg::data::membrane_loads(count, seed);
    return std::pair(hg::tensor(set.loads, {count, MembraneLoads::kInputs}),
                     hg::tensor(set.deflections, {count, kPoints}));
  };
  Task task{.name = "membrane", .lr = 1e-4};
  std::tie(task.x, task.y) = load(4096, 1);
  std::tie(task.test_x, task.test_y) = load(1024, 2);
  task.make_model = [] {
    const hg::nn::Linear last(128, kPoints);
    hg::nn::init::zeros_(last.weight);  // the network answers 0 at first
    hg::nn::init::zeros_(last.bias);
    return hg::nn::Sequential(hg::nn::Linear(MembraneLoads::kInputs, 128), hg::nn::ReLU(),
                              hg::nn::Linear(128, 128), hg::nn::ReLU(), last);
  };
  task.loss = [](const hg::Tensor& output, const hg::Tensor& y) { return hg::mse_loss(output, y); };
  task.score = r_squared;
  return task;
}

Task sine() {
  hg::manual_seed(3);
  const hg::Tensor teacher = hg::randn({4, 1}) * 2;
  const auto targets = [&](const hg::Tensor& x) { return hg::sin(hg::matmul(x, teacher)); };
  Task task{.name = "sine", .lr = 0.01, .steps = 6000};
  task.x = hg::rand({128, 4}) * 2 - 1;
  task.test_x = task.x;  // how far the training came, not how well it generalises
  task.y = targets(task.x);
  task.test_y = task.y;
  task.make_model = [] {
    return hg::nn::Sequential(hg::nn::Linear(4, 64), hg::nn::ReLU(), hg::nn::Linear(64, 1));
  };
  task.loss = [](const hg::Tensor& output, const hg::Tensor& y) {
    return hg::mse_loss(output.to(hg::kFloat32), y);
  };
  task.score = r_squared;
  return task;
}

double train(const Task& task, const Method& method, std::uint64_t seed) {
  hg::manual_seed(seed);
  hg::nn::Sequential model = task.make_model();
  model.to(method.weights);
  const std::vector<hg::Tensor> parameters = model.parameters();
  std::optional<hg::optim::SGD> sgd;
  std::optional<hg::optim::Adam> adam;
  if (method.sgd) {
    sgd.emplace(parameters, hg::optim::SGDArguments{.lr = task.lr});
  } else {
    adam.emplace(parameters, hg::optim::AdamArguments{.lr = task.lr});
  }
  hg::optim::Optimizer& optimizer = method.sgd ? static_cast<hg::optim::Optimizer&>(*sgd) : *adam;
  std::optional<hg::amp::MasterWeights> masters;
  if (method.masters) masters.emplace(optimizer);
  hg::amp::GradScaler scaler({.enabled = method.has_scaler});

  const auto forward = [&](const hg::Tensor& x) {
    const hg::amp::Autocast autocast(hg::kCPU, {.enabled = method.autocasts});
    return model(x.to(method.weights));
  };
  hg::data::DataLoader loader(hg::data::TensorDataset(task.x, task.y),
                              {.batch_size = 128, .shuffle = true, .seed = seed, .prefetch = 0});
  for (int step = 0; step < task.steps;) {
    for (const auto& [x, y] : loader) {
      optimizer.zero_grad();
      const hg::Tensor loss = task.loss(forward(x).to(hg::kFloat32), y);
      if (method.has_scaler) {
        scaler.scale(loss).backward();
      } else {
        (loss * method.constant_scale).backward();
        if (method.constant_scale != 1) {
          for (const hg::Tensor& p : parameters) p.grad().mul_(1 / method.constant_scale);
        }
      }
      scaler.step(optimizer);
      scaler.update();
      if (++step == task.steps) break;
    }
  }
  const hg::NoGradGuard no_grad;
  return task.score(forward(task.test_x), task.test_y);
}

}  // namespace paper
