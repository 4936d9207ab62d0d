#pragma once

#include <functional>
#include <string>

#include <halfgrad/halfgrad.h>

#include "corpus.h"
#include "options.h"

/// A model of characters: [batch, length] in, logits out, for each sequence or each position.
struct Model {
  halfgrad::nn::Module module;
  std::function<halfgrad::Tensor(const halfgrad::Tensor&)> logits;
};

struct Validation {
  double loss;  ///< nats a character
  double scale;
  std::int64_t skipped;
  std::int64_t steps;  ///< before it
};

/// nanoGPT's training loop; prints its progress. Ends with a validation, or after an interrupt with
/// a checkpoint, whose steps are then all that is said.
Validation train(const Model& model, const Corpus& corpus, const Options& options);

/// What the model writes, a character at a time, each drawn from the distribution it predicts.
std::string write(const Model& model, const Corpus& corpus, const Options& options);
