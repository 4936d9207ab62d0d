#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <halfgrad/dist/communicator.h>
#include <halfgrad/dist/flat_layout.h>
#include <halfgrad/io/checkpoint.h>
#include <halfgrad/optim/optimizer.h>

namespace halfgrad::dist {

struct ZeroOptions {
  /// True if the gradients are averages over all ranks already, as a DataParallel makes them:
  /// reduce_gradients() then only takes this rank's part.
  bool gradients_are_averaged = false;
};

/// Stage 1 of ZeRO (Rajbhandari et al. 2020, section 5): each of n ranks keeps 1/n of the
/// optimizer's state, and updates 1/n of the weights.
///
///   dist::ZeroRedundancyOptimizer zero(
///       model.parameters(), communicator, [](std::vector<optim::ParamGroup> shards) {
///         return std::make_unique<optim::AdamW>(std::move(shards), optim::AdamWOptions{});
///       });
///   for (auto [x, y] : loader) {
///     loss_of(model, x, y).backward();
///     zero.reduce_gradients();    // each rank gets the averages of its part
///     zero.optimizer().step();    // updates this rank's part, then sends it to all ranks
///   }
///
/// The weights of each dtype lie in one flat array, cut into n parts. optimizer() is the factory's:
/// its parameters are this rank's segments of the model's parameters, in their order, 1-dim and
/// maybe empty. Learning-rate schedulers, GradScaler, amp::MasterWeights and clipping take it:
///
///   dist::synchronize(scaler, communicator);                           // once
///   zero.reduce_gradients();
///   scaler.unscale_(zero.optimizer());
///   dist::clip_grad_norm_(zero.shards(), max_norm, *communicator);
///   scaler.step(zero.optimizer());
///
/// Weights get the same bits as from the factory's optimizer of all parameters on gradients that
/// all_reduce() averaged. Every rank makes the same calls in the same order.
class ZeroRedundancyOptimizer {
 public:
  /// Makes the optimizer of the segments, whose groups have the options of the model's groups.
  using Factory =
      std::function<std::unique_ptr<optim::Optimizer>(std::vector<optim::ParamGroup> shards)>;

  /// Sends the weights of rank 0 to all ranks, and makes the parameters views of flat arrays. Later
  /// calls of to() and set_data() would undo that: reduce_gradients() refuses such parameters.
  /// Throws std::invalid_argument for parameters on several devices, and for an optimizer that is
  /// not elementwise (LAMB, Muon, LBFGS), since it needs whole parameters.
  ZeroRedundancyOptimizer(std::vector<Tensor> parameters,
                          std::shared_ptr<Communicator> communicator, const Factory& make_optimizer,
                          const ZeroOptions& options = {});
  ZeroRedundancyOptimizer(std::vector<optim::ParamGroup> groups,
                          std::shared_ptr<Communicator> communicator, const Factory& make_optimizer,
                          const ZeroOptions& options = {});
  ZeroRedundancyOptimizer(const ZeroRedundancyOptimizer&) = delete;
  ZeroRedundancyOptimizer& operator=(const ZeroRedundancyOptimizer&) = delete;

  /// Averages the gradients of the model over ranks, gives each rank those of its segments, and
  /// drops the others: afterwards the model's parameters have no gradient. Call it before
  /// unscale_() and step(), which throw std::runtime_error otherwise. Throws std::runtime_error if
  /// a parameter that requires grad has no gradient.
  void reduce_gradients();

  /// The optimizer of this rank's segments. Its step() ends with sending the new weights.
  optim::Optimizer& optimizer() const { return *optimizer_; }
  /// This rank's segments.
  std::vector<Tensor> shards() const { return optimizer_->parameters(); }

  /// Drops the gradients of the model and of the segments.
  void zero_grad();

  /// Returns the state of the factory's optimizer of all parameters, in the CPU's memory of every
  /// rank. It does not depend on the number of ranks. All ranks must call it.
  optim::OptimizerState state_dict() const;
  /// Takes this rank's part of such a state, whichever number of ranks made it. Throws
  /// std::invalid_argument as Optimizer::load_state_dict().
  void load_state_dict(const optim::OptimizerState& saved);

 private:
  // The parameters of one dtype.
  struct Bucket {
    std::vector<std::size_t> members;  // indices of parameters
    halfgrad::detail::FlatLayout layout;
    Array weights;
  };

  void make_bucket(DType dtype);
  std::vector<optim::ParamGroup> make_shards(std::vector<optim::ParamGroup> groups);
  Array flat_gradients(const Bucket& bucket) const;
  void set_gradients(const Bucket& bucket, const Array& part);
  void gather_weights();
  void expect_views() const;
  void gather_entry(const Bucket& bucket, const std::string& name,
                    optim::OptimizerState& state) const;

  std::shared_ptr<Communicator> communicator_;
  ZeroOptions options_;
  std::vector<Tensor> parameters_;
  std::vector<Bucket> buckets_;
  std::vector<Tensor> shards_;  // by parameter
  std::unique_ptr<optim::Optimizer> optimizer_;
  bool is_reduced_ = false;
};

/// Stores the state of all ranks as Checkpoint::write() stores that of the factory's optimizer, so
/// any number of ranks, or a program that runs alone, can load it. All ranks must call it; one of
/// them, rank 0 by convention, then saves the checkpoint.
void write(io::Checkpoint& checkpoint, const std::string& name,
           const ZeroRedundancyOptimizer& optimizer);
/// Takes this rank's part. Throws as Checkpoint::read().
void read(const io::Checkpoint& checkpoint, const std::string& name,
          ZeroRedundancyOptimizer& optimizer);

}  // namespace halfgrad::dist
