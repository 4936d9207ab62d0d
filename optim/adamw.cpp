#include <halfgrad/optim/adamw.h>

namespace halfgrad::optim {
namespace {

AdamArguments adam_options(const AdamWArguments& options) {
  return {.lr = options.lr,
          .betas = options.betas,
          .eps = options.eps,
          .weight_decay = options.weight_decay,
          .amsgrad = options.amsgrad,
          .maximize = options.maximize};
}

}  // namespace

AdamW::AdamW(std::vector<Tensor> params, const AdamWArguments& options)
    : Adam("AdamW", adam_options(options), Decay::decoupled) {
  add_params(std::move(params));
}

AdamW::AdamW(std::vector<ParamGroup> groups, const AdamWArguments& options)
    : Adam("AdamW", adam_options(options), Decay::decoupled) {
  add_param_groups(std::move(groups));
}

}  // namespace halfgrad::optim
