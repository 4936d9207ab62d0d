#pragma once

#include <functional>
#include <string>

#include <halfgrad/halfgrad.h>
#include <halfgrad/programs/saves.h>
#include <halfgrad/report/run_report.h>

#include "corpus.h"
#include "options.h"

/// A model of characters. logits() maps `[batch, length]` to logits for each sequence or position.
struct Model {
  halfgrad::nn::Module module;
  std::function<halfgrad::Tensor(const halfgrad::Tensor&)> logits;
};

struct Validation {
  double loss;  ///< in nats per character
  double scale;
  std::int64_t skipped;
  std::int64_t steps;  ///< updates before the validation
};

/// Runs nanoGPT's training loop and prints its progress; saves checkpoints to `saves`. Returns the
/// last validation; after an interrupt it saves a checkpoint and sets only `steps`. Records each
/// step in `page`, unless it is nullptr.
Validation train(const Model& model, const Corpus& corpus, const Options& options,
                 programs::Saves& saves, halfgrad::RunReport* page = nullptr);

/// Generates text, one character at a time, each drawn from the predicted distribution.
std::string write(const Model& model, const Corpus& corpus, const Options& options);
