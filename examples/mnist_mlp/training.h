#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/data/dataset.h>
#include <halfgrad/halfgrad.h>

#include "precision.h"

/// Something to learn, and how.
struct Task {
  using Comparison =
      std::function<halfgrad::Tensor(const halfgrad::Tensor& output, const halfgrad::Tensor& y)>;

  halfgrad::data::TensorDataset train;
  halfgrad::data::Batch test;
  std::function<halfgrad::nn::Sequential()> make_model;
  Comparison loss;
  Comparison score;                   ///< 1 is perfect
  std::string (*score_text)(double);  ///< for people
  std::string optimizer = "adam";
  double lr = 1e-3;
  std::int64_t batch = 128;
  std::int64_t epochs = 1;
  std::int64_t steps = 0;  ///< at most
  halfgrad::Device device = {};
  std::filesystem::path save = {};  ///< empty, or where each finished epoch leaves a checkpoint,
  std::int64_t save_every = INT64_MAX;  ///< and each row of so many steps
  std::filesystem::path resume = {};    ///< empty, or the checkpoint to go on from
  bool graph = false;  ///< replay a captured step; loss and score may then read nothing
};

struct EpochReport {
  double loss = 0, score = 0;   ///< means over the batches
  std::optional<double> scale;  ///< of a GradScaler
  std::int64_t skipped = 0;     ///< steps since the training began
  std::int64_t steps = 0;       ///< that the means are of
};

struct TrainingReport {
  std::string precision;
  std::uint64_t seed = 0;
  std::vector<EpochReport> epochs;
  double test_score = 0;
  double median_step = 0;       ///< seconds
  std::int64_t peak_bytes = 0;  ///< of weights, gradients, optimizer state and activations
  /// Share of the weights that the last update changed; not known after an interrupt.
  std::optional<double> moved_weights;
  std::int64_t steps = 0, steps_left = 0;  ///< behind it, of a checkpoint's too; after an interrupt

  const EpochReport& last() const { return epochs.back(); }
};

/// Trains a new model and tests it; prints its progress.
TrainingReport train(const Task& task, const Precision& precision, std::uint64_t seed);
