#include <chrono>

#include <halfgrad/data/data_loader.h>

#include "epochs.h"

namespace hg = halfgrad;

namespace {

class PlainEpochs : public Epochs {
 public:
  PlainEpochs(const Task& task, Trainer& trainer, std::uint64_t seed)
      : task_(task),
        trainer_(trainer),
        loader_(task.train, {.batch_size = task.batch, .shuffle = true, .seed = seed}) {}

  std::int64_t steps_per_epoch() const override { return loader_.size(); }
  void start_at(std::int64_t epoch) override { loader_.set_epoch(epoch); }

  void run(std::int64_t steps, const Watch& watch) override {
    std::int64_t step = 0;
    for (const auto& [x, y] : loader_) {
      watch.before(step);
      watch.after(train(x.to(task_.device), y.to(task_.device)));
      if (++step == steps) break;
    }
  }

 private:
  StepFigures train(const hg::Tensor& x, const hg::Tensor& y) {
    const auto start = std::chrono::steady_clock::now();
    const auto [output, loss] = trainer_.step(x, y);
    const double loss_value = loss.item();  // waits for the device
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    const hg::NoGradGuard no_grad;
    return {loss_value, task_.score(output, y).item(), elapsed.count()};
  }

  const Task& task_;
  Trainer& trainer_;
  hg::data::DataLoader loader_;
};

}  // namespace

std::unique_ptr<Epochs> make_plain_epochs(const Task& task, Trainer& trainer, std::uint64_t seed) {
  return std::make_unique<PlainEpochs>(task, trainer, seed);
}
