#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <halfgrad/dist/communicator.h>
#include <halfgrad/nn/module.h>

namespace halfgrad::dist {

struct DataParallelOptions {
  /// Gradients are averaged in buckets of about this size. The first bucket has at most 1 MiB, so
  /// that the first collective starts early. The size changes speed only, never results.
  std::int64_t bucket_bytes = 25 * 1024 * 1024;
  /// Without it, a parameter that gets no gradient is an error. With it, its gradient counts as
  /// zero, and a parameter that gets none on any rank keeps its grad(). All ranks must set it
  /// alike; it costs one small collective a step.
  bool find_unused_parameters = false;
  /// Before each forward pass in training mode, buffers such as the running statistics of batch
  /// norm become those of rank 0.
  bool broadcast_buffers = true;
  /// float16 or bfloat16: float32 gradients travel in this dtype, in half the bytes. See
  /// DataParallel.
  std::optional<DType> gradient_dtype = std::nullopt;
};

namespace detail {

class GradientReducer;

}  // namespace detail

/// While it lives, backward passes add to the gradients of this rank alone: see
/// DataParallel::no_sync().
class [[nodiscard]] NoSync {
 public:
  explicit NoSync(std::shared_ptr<detail::GradientReducer> reducer);
  ~NoSync();
  NoSync(const NoSync&) = delete;
  NoSync& operator=(const NoSync&) = delete;

 private:
  std::shared_ptr<detail::GradientReducer> reducer_;
  bool outer_;
};

namespace detail {

/// The part of DataParallel that does not depend on the type of the module: a handle of it.
class ParallelModule : public nn::Module {
 public:
  [[nodiscard]] NoSync no_sync() const { return NoSync(reducer_); }

 protected:
  ParallelModule(const nn::Module& module, std::shared_ptr<Communicator> communicator,
                 const DataParallelOptions& options);
  void before_forward() const;

 private:
  std::shared_ptr<GradientReducer> reducer_;
};

/// A module, or what a std::shared_ptr or a holder points to.
template <class M>
std::shared_ptr<const nn::Module> wrapped_module(const M& module) {
  if constexpr (std::derived_from<M, nn::Module>) {
    return {std::shared_ptr<void>(), &module};
  } else {
    return nn::detail::shared_module(module);
  }
}

}  // namespace detail

/// Trains one model on several ranks, each with its part of the batch: PyTorch's
/// DistributedDataParallel. After backward() every rank holds the same gradients, the average of
/// all ranks, so equal optimizers keep the parameters equal.
///
///   dist::DataParallel model(Net(), communicator);
///   optim::AdamW optimizer(model.parameters());
///   for (...) {
///     optimizer.zero_grad();
///     cross_entropy(model(part.input), part.target).backward();  // averages while it runs
///     optimizer.step();
///   }
///
/// A loss that is a mean over equal parts of the batch gives the gradients of the whole batch. The
/// result has the same bits for any bucket size and any number of threads, and with one rank those
/// of the module alone. DataParallel is a handle of the module: parameters(), state_dict() and
/// train() are the module's own, without a prefix.
///
/// The constructor is a collective. It checks that all ranks have the same parameters, buffers and
/// options, or throws std::invalid_argument with the first difference and the rank. Then parameters
/// and buffers become those of rank 0.
///
/// Gradients live in buckets, one flat array each: grad() is a view. Parameters fill buckets in the
/// reverse of their order of registration, one dtype and device to a bucket. A bucket's average
/// starts as soon as backward has completed its gradients and the buckets before are started; the
/// end of backward() waits for all. A gradient that the backward pass leaves in 16 bits is widened
/// to the dtype of its parameter as it is copied to the bucket. A gradient handle that is kept
/// beyond zero_grad() keeps its values: the next pass then makes a new bucket.
///
/// gradient_dtype rounds each rank's float32 gradient to 16 bits, and the average, which is
/// computed in float32, once more. A gradient that float16 cannot hold becomes infinite on every
/// rank alike, so with a GradScaler all ranks skip the step.
///
/// backward() throws std::runtime_error, with the names, for parameters without a gradient unless
/// find_unused_parameters is set. It also throws, before it starts a collective, for create_graph
/// and inside another backward pass. Both work under no_sync(). autograd::grad() returns the
/// gradients of this rank. Every rank must call backward() equally often, each time for a loss that
/// reaches a parameter: the other ranks wait for it. A parameter that is frozen or thawed counts
/// from the next forward pass; do so on all ranks. After an exception, gradients have no defined
/// value: call zero_grad().
template <class M>
class DataParallel : public detail::ParallelModule {
 public:
  /// `module` is a module, a std::shared_ptr to one, or a holder of one. A parameter belongs to at
  /// most one DataParallel at a time; throws std::invalid_argument otherwise.
  explicit DataParallel(M module, std::shared_ptr<Communicator> communicator,
                        DataParallelOptions options = {})
      : ParallelModule(*detail::wrapped_module(module), std::move(communicator), options),
        module_(std::move(module)) {}

  /// Calls the module. In training mode, a collective if the module has buffers.
  template <class... Args>
  auto operator()(Args&&... args) const {
    before_forward();
    if constexpr (std::invocable<const M&, Args...>) {
      return module_(std::forward<Args>(args)...);
    } else {
      return module_->forward(std::forward<Args>(args)...);
    }
  }

  /// Lets gradients add up without a collective, as PyTorch's no_sync(). The next backward pass
  /// outside of it averages the sum:
  ///
  ///   {
  ///     dist::NoSync guard = model.no_sync();
  ///     loss_of(model(first_half)).backward();
  ///   }
  ///   loss_of(model(second_half)).backward();
  ///
  /// Buffers are not broadcast while it lives.
  using ParallelModule::no_sync;

  const M& module() const { return module_; }

 private:
  M module_;
};

}  // namespace halfgrad::dist
