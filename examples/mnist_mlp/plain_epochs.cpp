#include <chrono>

#include <halfgrad/data/batch_stream.h>
#include <halfgrad/programs/interrupt.h>

#include "epochs.h"

namespace hg = halfgrad;

namespace {

class PlainEpochs : public Epochs {
 public:
  PlainEpochs(const Task& task, Trainer& trainer, std::uint64_t seed)
      : task_(task),
        trainer_(trainer),
        batches_(hg::data::DataLoader(task.train,
                                      {.batch_size = task.batch, .shuffle = true, .seed = seed})) {}

  std::int64_t steps_per_epoch() const override { return batches_.epoch_size(); }
  void seek(std::int64_t steps) override { batches_.seek(steps); }

  std::int64_t run(std::int64_t steps, const Watch& watch) override {
    std::int64_t step = 0;
    while (step < steps && (step == 0 || !programs::is_interrupted())) {
      const auto [x, y] = batches_.next();
      watch.before(step++);
      watch.after(train(x.to(task_.device), y.to(task_.device)));
    }
    return step;
  }

 private:
  StepFigures train(const hg::Tensor& x, const hg::Tensor& y) {
    const auto start = std::chrono::steady_clock::now();
    const auto [output, loss, grad_norm] = trainer_.step(x, y);
    const double loss_value = loss.item();  // waits for the device
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    const hg::NoGradGuard no_grad;
    const double score = task_.score(output, y).item();
    if (task_.traces == nullptr) return {loss_value, score, elapsed.count()};
    return {loss_value, score, elapsed.count(), grad_norm.item()};
  }

  const Task& task_;
  Trainer& trainer_;
  hg::data::BatchStream batches_;
};

}  // namespace

std::unique_ptr<Epochs> make_plain_epochs(const Task& task, Trainer& trainer, std::uint64_t seed) {
  return std::make_unique<PlainEpochs>(task, trainer, seed);
}
