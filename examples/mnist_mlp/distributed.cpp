#include "distributed.h"

#include <csignal>
#include <cstdio>

#include <fmt/core.h>
#include <halfgrad/data/batch_stream.h>
#include <halfgrad/dist/any_rank.h>
#include <halfgrad/dist/grad_scaler.h>
#include <halfgrad/dist/init_process_group.h>
#include <halfgrad/dist/launcher.h>
#include <halfgrad/dist/zero_redundancy_optimizer.h>
#include <halfgrad/programs/interrupt.h>

#include "tasks.h"
#include "trainer.h"

namespace hg = halfgrad;

namespace {

using World = std::shared_ptr<hg::dist::Communicator>;

/// Trains the model of one rank. All ranks make the same calls in the same order.
class RankTrainer {
 public:
  RankTrainer(const Task& task, const Precision& precision, const World& world)
      : task_(task),
        precision_(precision),
        world_(world),
        model_(place(task.make_model())),
        zero_(model_.parameters(), world,
              [&](std::vector<hg::optim::ParamGroup> shards) {
                return make_optimizer(task, precision, std::move(shards));
              }),
        scaler_({.enabled = precision.scales_loss}) {
    if (precision.masters) masters_.emplace(zero_.optimizer());
    hg::dist::synchronize(scaler_, world);
  }

  /// Runs a step on this rank's part of a batch. Returns the mean loss of all ranks.
  double step(const hg::Tensor& x, const hg::Tensor& y) {
    const hg::Tensor loss = task_.loss(forward(x), y);
    scaler_.scale(loss).backward();
    zero_.reduce_gradients();
    scaler_.unscale_(zero_.optimizer());
    hg::dist::clip_grad_norm_(zero_.shards(), 1.0, *world_);
    scaler_.step(zero_.optimizer());
    scaler_.update();
    const hg::Tensor mean = loss.detach().clone();
    world_->all_reduce(mean.array(), hg::dist::ReduceOp::average).wait();
    return mean.item();
  }

  double test_score() const {
    const hg::NoGradGuard no_grad;
    const hg::Tensor x = task_.test.first.to(task_.device), y = task_.test.second.to(task_.device);
    return task_.score(forward(x), y).item();
  }
  double scale() const { return scaler_.get_scale(); }

  /// The parts have the names and the shapes of a training without ranks.
  hg::io::Checkpoint checkpoint() const {
    hg::io::Checkpoint checkpoint;
    checkpoint.write("model", model_);
    hg::dist::write(checkpoint, "optimizer", zero_);
    checkpoint.write("scaler", scaler_);
    checkpoint.write("random", hg::default_generator());
    return checkpoint;
  }
  void read(const hg::io::Checkpoint& checkpoint) {
    checkpoint.read("model", model_);
    hg::dist::read(checkpoint, "optimizer", zero_);
    checkpoint.read("scaler", scaler_);
    checkpoint.read("random", hg::default_generator());
  }

 private:
  hg::nn::Sequential place(hg::nn::Sequential model) const {
    model.to(task_.device);
    model.to(precision_.weights);
    return model;
  }

  hg::Tensor forward(const hg::Tensor& x) const {
    const hg::amp::Autocast autocast(
        task_.device.type(),
        {.dtype = precision_.autocast, .enabled = precision_.autocast.has_value()});
    return model_(x.to(precision_.weights));
  }

  const Task& task_;
  const Precision& precision_;
  World world_;
  hg::nn::Sequential model_;
  hg::dist::ZeroRedundancyOptimizer zero_;
  std::optional<hg::amp::MasterWeights> masters_;
  hg::amp::GradScaler scaler_;
};

/// --batch is that of all ranks, so a training may go on with another number of them.
std::int64_t batch_of_rank(const Task& task, const World& world) {
  if (task.batch % world->size() == 0) return task.batch / world->size();
  throw std::invalid_argument(fmt::format("--batch: expected a multiple of the {} ranks, got {}",
                                          world->size(), task.batch));
}

/// `chosen`, or on a GPU the one that is this rank's on its node.
hg::Device device_of_rank(hg::Device chosen) {
  if (chosen.is_cpu()) return chosen;
  return hg::dist::gpu_of(hg::dist::find_launch(), hg::cuda::device_count());
}

/// The devices of all ranks: "cpu", or such as "cuda:0 cuda:1".
std::string devices_of_ranks(hg::Device own, const World& world) {
  if (own.is_cpu()) return own.str();
  const hg::Array index = hg::Array::full({1}, own.index(), hg::kInt64);
  const hg::Array all = hg::Array::empty({world->size()}, hg::kInt64);
  world->all_gather(all, index).wait();
  std::string text;
  for (int rank = 0; rank < world->size(); ++rank) {
    const auto of_rank = static_cast<int>(all.data_as<std::int64_t>()[rank]);
    text += (text.empty() ? "" : " ") + hg::Device(own.type(), of_rank).str();
  }
  return text;
}

/// Saves the state of all ranks. None goes on, or ends, before the file is complete: mpirun ends
/// the others if one ends with an error.
void save(std::int64_t steps, const Task& task, const std::string& options,
          const RankTrainer& trainer, const World& world, programs::Saves& saves) {
  hg::io::Checkpoint checkpoint = trainer.checkpoint();
  write_settings(checkpoint, task, options);
  checkpoint.write("steps", steps);
  if (world->rank() == 0) {
    saves.save(steps, [&](const auto& file) { hg::io::save_checkpoint(file, checkpoint); });
  }
  world->barrier();
}

int train(const Task& task, const Precision& precision, std::uint64_t seed, const World& world) {
  hg::manual_seed(seed);
  RankTrainer trainer(task, precision, world);
  hg::data::BatchStream batches(
      hg::data::DataLoader(task.train, {.batch_size = batch_of_rank(task, world),
                                        .shuffle = true,
                                        .seed = seed,
                                        .num_replicas = world->size(),
                                        .rank = world->rank()}));
  const std::string options = settings(task, precision, seed);
  std::int64_t step = 0;
  if (!task.resume.empty()) {
    const hg::io::Checkpoint checkpoint = hg::io::load_checkpoint(task.resume);
    require_settings(checkpoint, task, options);
    trainer.read(checkpoint);
    batches.seek(step = checkpoint.integer("steps"));
  }

  programs::Saves saves("mnist_mlp", task.save);
  const std::int64_t per_epoch = batches.epoch_size(), all_steps = task.epochs * per_epoch;
  const std::int64_t end = step + std::min(task.steps, all_steps - step);
  double loss = 0;
  bool is_stopped = false;
  while (step < end && !is_stopped) {
    const auto [x, y] = batches.next();
    loss += trainer.step(x.to(task.device), y.to(task.device));
    ++step;
    // A signal may reach one rank, or each of them in another step.
    is_stopped = hg::dist::any_rank(*world, programs::is_interrupted(), task.device);
    const std::int64_t of_epoch = (step - 1) % per_epoch + 1;
    const bool ends = of_epoch == per_epoch || step == end || is_stopped;
    if (ends && world->rank() == 0) {
      fmt::print("epoch {:>2}  step {:>5}  loss {:.4f}  test {}  scale {:g}\n",
                 (step - 1) / per_epoch + 1, step, loss / static_cast<double>(of_epoch),
                 task.score_text(trainer.test_score()), trainer.scale());
    }
    if (of_epoch == per_epoch) loss = 0;
    if (!task.save.empty() && (ends || step % task.save_every == 0)) {
      save(step, task, options, trainer, world, saves);
    }
  }
  if (is_stopped && world->rank() == 0) {
    fmt::print(stderr, "mnist_mlp: interrupted after step {}, {}\n", step,
               saves.saved_step() ? "saved in " + task.save.string() : "nothing is saved");
  }
  if (is_stopped)
    return programs::is_interrupted() ? programs::interrupted_status() : 128 + SIGTERM;
  return saves.conclude();
}

}  // namespace

int run_distributed(Options options) {
  programs::remember_interrupts();
  options.device = device_of_rank(options.device);
  const World world = hg::dist::init_process_group();
  if (world->rank() > 0 && std::freopen("/dev/null", "w", stdout) == nullptr) {
    throw std::runtime_error("/dev/null: expected a file that can be opened, got an error");
  }
  const Task task = digits_task(options, nullptr);
  fmt::print("Ranks: {}, with {} of the {} images of a batch each, on {}.\n", world->size(),
             batch_of_rank(task, world), task.batch, devices_of_ranks(options.device, world));
  return train(task, options.precisions.front(), options.seed, world);
}
