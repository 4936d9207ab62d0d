#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>

#include <halfgrad/core/graph.h>
#include <halfgrad/data/data_loader.h>
#include <halfgrad/programs/interrupt.h>

#include "epochs.h"

namespace hg = halfgrad;

namespace {

/// Returns all samples, in the order of their indices.
hg::data::Batch all_of(const hg::data::TensorDataset& dataset) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(dataset.size()));
  std::iota(indices.begin(), indices.end(), 0);
  return dataset.get_batch(indices);
}

class ReplayedEpochs : public Epochs {
 public:
  ReplayedEpochs(const Task& task, Trainer& trainer, std::uint64_t seed)
      : task_(task),
        trainer_(trainer),
        loader_(task.train, {.batch_size = task.batch, .shuffle = true, .seed = seed}) {
    const auto [x, y] = all_of(task.train);
    x_ = x.to(task.device);
    y_ = y.to(task.device);
    order_ = hg::zeros({task.train.size()}, on_device(hg::kInt64));
    in_batch_ = hg::arange(task.batch, on_device(hg::kInt64));
    step_ = hg::zeros({1}, on_device(hg::kInt64));
    steps_ = hg::arange(loader_.size(), on_device(hg::kInt64));
    losses_ = hg::zeros({loader_.size()}, on_device(hg::kFloat64));
    scores_ = hg::zeros({loader_.size()}, on_device(hg::kFloat64));
  }

  std::int64_t steps_per_epoch() const override { return loader_.size(); }
  void seek(std::int64_t steps) override { next_ = steps; }

  std::int64_t run(std::int64_t steps, const Watch& watch) override {
    const std::int64_t first = next_ % loader_.size();
    order_.copy_(hg::tensor(loader_.order(next_ / loader_.size())));
    step_.fill_(static_cast<double>(first));
    const auto start = std::chrono::steady_clock::now();
    std::int64_t done = 0;
    while (done < steps && (done == 0 || !programs::is_interrupted())) {
      watch.before(done);
      replay(std::min(task_.batch, task_.train.size() - (first + done++) * task_.batch));
    }
    next_ += done;
    const auto losses = losses_.to_vector<double>();  // waits for the device
    const auto scores = scores_.to_vector<double>();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(first + done); ++i)
      watch.after({losses[i], scores[i], elapsed.count() / static_cast<double>(done)});
    return done;
  }

 private:
  hg::CreationOptions on_device(hg::DType dtype) const {
    return {.dtype = dtype, .device = task_.device};
  }

  /// Runs a step from the graph for its batch size; the last batch of an epoch may be shorter. The
  /// first step of each size runs without a graph, so that memory which it allocates permanently
  /// (optimizer state) does not belong to the graph.
  void replay(std::int64_t batch) {
    const auto train = [this, batch] { step(batch); };
    if (const auto graph = graphs_.find(batch); graph != graphs_.end())
      return graph->second.replay();
    train();
    graphs_.try_emplace(batch, task_.device).first->second.capture(train);
  }

  void step(std::int64_t batch) {
    const hg::Tensor positions = step_ * task_.batch + in_batch_.slice(0, 0, batch);
    const hg::Tensor samples = hg::index_select(order_, 0, positions);
    const hg::Tensor y = hg::index_select(y_, 0, samples);
    const auto [output, loss, grad_norm] = trainer_.step(hg::index_select(x_, 0, samples), y);
    const hg::NoGradGuard no_grad;
    store(losses_, loss);
    store(scores_, task_.score(output, y));
    step_.add_(1);
  }

  void store(hg::Tensor& results, const hg::Tensor& result) const {
    results.copy_(hg::where(steps_ == step_, result.to(hg::kFloat64), results));
  }

  const Task& task_;
  Trainer& trainer_;
  hg::data::DataLoader loader_;
  std::int64_t next_ = 0;                     // next step, counted from the first epoch
  hg::Tensor x_, y_;                          // the whole data set
  hg::Tensor order_;                          // int64 [n]: sample indices in the epoch's order
  hg::Tensor in_batch_;                       // int64 [batch]: 0, 1, ...
  hg::Tensor step_, steps_;                   // int64 [1]: step in the epoch; [steps]: 0, 1, ...
  hg::Tensor losses_, scores_;                // float64 [steps]
  std::map<std::int64_t, hg::Graph> graphs_;  // key: batch size
};

}  // namespace

std::unique_ptr<Epochs> make_replayed_epochs(const Task& task, Trainer& trainer,
                                             std::uint64_t seed) {
  return std::make_unique<ReplayedEpochs>(task, trainer, seed);
}
