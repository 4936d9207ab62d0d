#pragma once

#include <vector>

#include <halfgrad/optim/optim.h>
#include <halfgrad/tests/optim/make_optimizer.h>

/// Optimizers with options that choose each of their formulas.
namespace halfgrad::testing {

struct OptimizerCase {
  const char* name;
  MakeOptimizer make;
};

inline std::vector<OptimizerCase> every_optimizer() {
  using namespace optim;
  return {
      {"sgd", make<SGD>(SGDArguments{.lr = 0.1})},
      {"sgd momentum", make<SGD>(SGDArguments{.lr = 0.1, .momentum = 0.9, .dampening = 0.5})},
      {"adam", make<Adam>(AdamArguments{.lr = 0.1, .weight_decay = 0.1})},
      {"adamw amsgrad", make<AdamW>(AdamWArguments{.lr = 0.1, .amsgrad = true})},
      {"rmsprop", make<RMSprop>(RMSpropArguments{.lr = 0.1, .eps = 0.01})},
      {"rmsprop momentum", make<RMSprop>(RMSpropArguments{.lr = 0.1, .momentum = 0.9})},
      {"rmsprop centered",
       make<RMSprop>(RMSpropArguments{.lr = 0.1, .alpha = 0.5, .eps = 0.01, .centered = true})},
      {"rmsprop all", make<RMSprop>(RMSpropArguments{.lr = 0.1,
                                                     .alpha = 0.5,
                                                     .eps = 0.01,
                                                     .weight_decay = 0.1,
                                                     .momentum = 0.9,
                                                     .centered = true,
                                                     .maximize = true})},
      {"adagrad",
       make<Adagrad>(AdagradArguments{
           .lr = 0.1, .lr_decay = 0.5, .weight_decay = 0.1, .initial_accumulator_value = 0.25})},
      {"adadelta", make<Adadelta>(AdadeltaArguments{.eps = 1e-3, .weight_decay = 0.1})},
      {"adamax", make<Adamax>(AdamaxArguments{.lr = 0.1, .eps = 1e-3, .weight_decay = 0.1})},
      {"radam", make<RAdam>(RAdamArguments{.lr = 0.1, .weight_decay = 0.1})},
      {"radam decoupled",
       make<RAdam>(RAdamArguments{
           .lr = 0.1, .weight_decay = 0.1, .decoupled_weight_decay = true, .maximize = true})},
      {"nadam", make<NAdam>(NAdamArguments{.lr = 0.1, .weight_decay = 0.1})},
      {"nadam decoupled",
       make<NAdam>(NAdamArguments{
           .lr = 0.1, .weight_decay = 0.1, .momentum_decay = 0.5, .decoupled_weight_decay = true})},
      {"lamb", make<LAMB>(LAMBArguments{.lr = 0.1, .weight_decay = 0.1})},
      {"lion", make<Lion>(LionArguments{.lr = 0.1, .weight_decay = 0.1})},
  };
}

}  // namespace halfgrad::testing
