#include "updates.h"

namespace hg = halfgrad;

namespace {

constexpr hg::optim::AdamWArguments kAdamW{.lr = 1e-2};
constexpr hg::optim::CosineAnnealingLROptions kCosine{.T_max = 50};
constexpr double kLargestNorm = 1;

template <class Optimizer, class Scaler>
void write_parts(hg::io::Checkpoint& checkpoint, Optimizer& optimizer,
                 const hg::optim::LRScheduler& schedule, const Scaler& scaler) {
  checkpoint.write("optimizer", optimizer);
  checkpoint.write("schedule", schedule);
  checkpoint.write("scaler", scaler);
}

template <class Optimizer, class Scaler>
void read_parts(const hg::io::Checkpoint& checkpoint, Optimizer& optimizer,
                hg::optim::LRScheduler& schedule, Scaler& scaler) {
  checkpoint.read("optimizer", optimizer);
  checkpoint.read("schedule", schedule);
  checkpoint.read("scaler", scaler);
}

class PlainUpdates : public Updates {
 public:
  PlainUpdates(const hg::nn::Module& model, const hg::amp::GradScalerOptions& scaling)
      : parameters_(model.parameters()), scaler_(scaling) {}

  hg::Tensor scale(const hg::Tensor& loss) override { return scaler_.scale(loss); }
  void accumulate() override {}
  void step() override {
    scaler_.unscale_(adamw_);
    hg::nn::utils::clip_grad_norm_(parameters_, kLargestNorm);
    scaler_.step(adamw_);
    scaler_.update();
    schedule_.step();
    adamw_.zero_grad();
  }
  void complete() override {}

  void write(hg::io::Checkpoint& checkpoint) override {
    write_parts(checkpoint, adamw_, schedule_, scaler_);
  }
  void read(const hg::io::Checkpoint& checkpoint) override {
    read_parts(checkpoint, adamw_, schedule_, scaler_);
  }
  std::int64_t skipped() const override { return scaler_.counts().skipped_steps; }

 private:
  std::vector<hg::Tensor> parameters_;
  hg::optim::AdamW adamw_{parameters_, kAdamW};
  hg::optim::CosineAnnealingLR schedule_{adamw_, kCosine};
  hg::amp::GradScaler scaler_;
};

class AsyncUpdates : public Updates {
 public:
  AsyncUpdates(const hg::nn::Module& model, const hg::amp::GradScalerOptions& scaling)
      : adamw_(model.parameters(), kAdamW), scaler_(optimizer_, scaling) {}

  hg::Tensor scale(const hg::Tensor& loss) override { return scaler_.scale(loss); }
  void accumulate() override { optimizer_.accumulate(); }
  void step() override {
    optimizer_.step([this](hg::optim::Optimizer& adamw) {
      scaler_.unscale_(adamw);
      hg::nn::utils::clip_grad_norm_(adamw.param_groups()[0].params, kLargestNorm);
      scaler_.step(adamw);
      schedule_.step();
    });
    scaler_.update();
  }
  void complete() override { optimizer_.synchronize(); }

  void write(hg::io::Checkpoint& checkpoint) override {
    write_parts(checkpoint, optimizer_, schedule_, scaler_);
  }
  void read(const hg::io::Checkpoint& checkpoint) override {
    optimizer_.copy_from_parameters();
    read_parts(checkpoint, optimizer_, schedule_, scaler_);
  }
  std::int64_t skipped() const override { return scaler_.counts().skipped_steps; }

 private:
  hg::optim::AdamW adamw_;
  hg::optim::CosineAnnealingLR schedule_{adamw_, kCosine};
  hg::optim::AsyncOptimizer optimizer_{adamw_};
  hg::amp::AsyncGradScaler scaler_;
};

}  // namespace

std::unique_ptr<Updates> make_plain_updates(const hg::nn::Module& model,
                                            const hg::amp::GradScalerOptions& scaling) {
  return std::make_unique<PlainUpdates>(model, scaling);
}

std::unique_ptr<Updates> make_async_updates(const hg::nn::Module& model,
                                            const hg::amp::GradScalerOptions& scaling) {
  return std::make_unique<AsyncUpdates>(model, scaling);
}
