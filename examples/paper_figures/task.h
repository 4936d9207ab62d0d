#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <halfgrad/halfgrad.h>

namespace paper {

/// A task with the size of an example: it trains in about a second on one core.
struct Task {
  std::string name;
  halfgrad::Tensor x = {}, y = {}, test_x = {}, test_y = {};
  std::function<halfgrad::nn::Sequential()> make_model = {};
  std::function<halfgrad::Tensor(const halfgrad::Tensor& output, const halfgrad::Tensor& y)> loss =
      {};
  /// Test score in percent; 100 is perfect.
  std::function<double(const halfgrad::Tensor& output, const halfgrad::Tensor& y)> score = {};
  double lr = 1e-3;
  int steps = 600;
};

/// 10 classes of synthetic digits, 784-64-32-10.
Task digits();
/// The same images, and eight layers with GELU and LayerNorm.
Task deep_digits();
/// data::membrane_loads(): a regression whose gradients are too small for fp16 without a scale.
Task membrane();
/// A sine of four inputs, and plain SGD: a regression that needs many small updates.
Task sine();

/// Formats of weights and arithmetic, and the loss scale.
struct Method {
  bool autocasts = false;
  bool has_scaler = false;    ///< uses a GradScaler
  double constant_scale = 1;  ///< without a scaler; never checks for inf and NaN
  halfgrad::DType weights = halfgrad::kFloat32;
  bool masters = false;
  bool sgd = false;  ///< plain SGD instead of Adam
};

/// Trains a new model and returns its test score in percent. Seeds choose the first weights and the
/// order of the samples, the same for all methods.
double train(const Task& task, const Method& method, std::uint64_t seed);

/// Prints `name = value`. docs/paper.md quotes it, and a test compares.
void fact(const std::string& name, double value);

/// The figures of the paper; each prints a table and its facts. At most `steps` steps a training.
void show_gradient_share(int steps);
void show_accuracy(int steps, int seeds);
void show_divergence(int steps);
void show_masters(int steps, int seeds);

}  // namespace paper
