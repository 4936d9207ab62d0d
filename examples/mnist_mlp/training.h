#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/data/dataset.h>
#include <halfgrad/halfgrad.h>
#include <halfgrad/io/checkpoint.h>
#include <halfgrad/programs/saves.h>
#include <halfgrad/report/run_report.h>
#include <halfgrad/report/trace/traced_run.h>

#include "precision.h"

/// A task: data, model, loss and training options.
struct Task {
  using Comparison =
      std::function<halfgrad::Tensor(const halfgrad::Tensor& output, const halfgrad::Tensor& y)>;

  halfgrad::data::TensorDataset train;
  halfgrad::data::Batch test;
  std::function<halfgrad::nn::Sequential()> make_model;
  Comparison loss;
  Comparison score;                   ///< 1 is perfect
  std::string (*score_text)(double);  ///< prints a score
  std::string title = {};             ///< for the page of --report
  std::string score_name = {};        ///< with its unit
  double score_unit = 1;              ///< score of one unit
  halfgrad::RunReport* page = nullptr;
  std::string optimizer = "adam";
  double lr = 1e-3;
  std::optional<InitScale> init_scale = {};  ///< nullopt: the GradScaler's own
  std::int64_t batch = 128;
  std::int64_t epochs = 1;
  std::int64_t steps = 0;  ///< at most so many
  halfgrad::Device device = {};
  std::filesystem::path save = {};      ///< checkpoint written after each epoch; empty: none
  std::int64_t save_every = INT64_MAX;  ///< steps after which it is written, too
  std::filesystem::path resume = {};    ///< checkpoint to continue from; empty: none
  std::string checksum = {};            ///< the training data's; empty without a checkpoint
  std::string name = "digits", score_tag = "accuracy";  ///< in traces and in TensorBoard
  halfgrad::report::TraceFiles* traces = nullptr;       ///< records each training in them
  bool graph = false;  ///< replays a captured step: loss() and score() must then read no value
};

struct EpochReport {
  double loss = 0, score = 0;   ///< means over the batches
  std::optional<double> scale;  ///< only with a GradScaler
  std::int64_t skipped = 0;     ///< skipped steps since the start of the training
  std::int64_t steps = 0;       ///< number of batches in the means
};

struct TrainingReport {
  std::string precision;
  std::uint64_t seed = 0;
  std::vector<EpochReport> epochs;
  std::optional<double> init_scale;  ///< only with a GradScaler
  double test_score = 0;
  double median_step = 0;       ///< in seconds
  std::int64_t peak_bytes = 0;  ///< largest memory of weights, gradients, optimizer and activations
  /// Fraction of the weights that the last update changed; unknown after an interrupt.
  std::optional<double> moved_weights;
  std::int64_t steps = 0;       ///< completed steps, including those of a resumed checkpoint
  std::int64_t steps_left = 0;  ///< remaining steps after an interrupt
  programs::Saves saves;

  const EpochReport& last() const { return epochs.back(); }
};

/// The options that determine the bits of a training, except for the data.
std::string settings(const Task& task, const Precision& precision, std::uint64_t seed);
/// Writes the settings and the checksum of the data.
void write_settings(halfgrad::io::Checkpoint& checkpoint, const Task& task,
                    const std::string& settings);
/// Throws std::invalid_argument for a checkpoint with other settings or other data. Older ones have
/// no checksum and may have any data.
void require_settings(const halfgrad::io::Checkpoint& checkpoint, const Task& task,
                      const std::string& settings);

/// Trains a new model and tests it; prints its progress.
TrainingReport train(const Task& task, const Precision& precision, std::uint64_t seed);
