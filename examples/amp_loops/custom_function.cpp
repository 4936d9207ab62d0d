// A user-defined function: x^5 overflows in float16, so custom_fwd casts the input of its forward
// to float32. custom_bwd gives its backward the autocast state of its forward.
#include "loops.h"
#include "regression.h"

namespace {

using hg::autograd::AutogradContext;
using hg::autograd::variable_list;

struct FifthPower : hg::autograd::Function<FifthPower> {
  static hg::Tensor forward(AutogradContext* ctx, hg::Tensor x) {
    const auto autocast = hg::amp::custom_fwd(ctx, x.device().type(), hg::kFloat32, x);
    ctx->save_for_backward({x});
    return x.pow(5);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto autocast = hg::amp::custom_bwd(ctx, grads[0].device().type());
    return {grads[0] * 5 * ctx->get_saved_variables()[0].pow(4)};
  }
};

}  // namespace

Trace custom_function(std::int64_t steps) {
  const Regression model;
  hg::optim::SGD optimizer(model.parameters(), {.lr = kLearningRate / 64});
  hg::amp::GradScaler scaler(kScaler);
  Trace trace(scaler, model, {&optimizer});
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto [x, y] = model.batch(step);
    optimizer.zero_grad();
    hg::Tensor loss;
    {
      const hg::amp::Autocast autocast(model.device.type());
      const hg::Tensor power = FifthPower::apply(hg::tanh(model.hidden(x)) * 16);
      loss = hg::mse_loss(model.output(power / 0x1p20), y);
    }
    scaler.scale(loss).backward();
    const auto outcome = scaler.step(optimizer);
    scaler.update();
    trace.push_back({loss.item(), scaler.get_scale(), outcome.skipped()});
  }
  return trace;
}
