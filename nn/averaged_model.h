#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/tensor.h>
#include <halfgrad/nn/module.h>

/// Averages of a model's weights over the steps of a training, as torch.optim.swa_utils.
namespace halfgrad::optim {

/// Returns the next average. Arguments are the present average, the model's value, and the number
/// of values in the average (int64, 0-dim, on their device). When that number is 0 the model's
/// value becomes the average, whatever this function returns.
using AvgFn = std::function<Tensor(const Tensor& averaged, const Tensor& current,
                                   const Tensor& num_averaged)>;

/// The mean of all values (stochastic weight averaging, Izmailov et al. 2018):
/// averaged + (current - averaged) / (num_averaged + 1).
AvgFn get_swa_avg_fn();

/// The exponential moving average: decay * averaged + (1 - decay) * current. Throws
/// std::invalid_argument unless decay is in [0, 1].
AvgFn get_ema_avg_fn(double decay = 0.999);

struct AveragedModelOptions {
  AvgFn avg_fn = get_swa_avg_fn();
  bool use_buffers = false;  ///< averages the buffers too; else they are copied
};

/// The part of AveragedModel that does not know the model's type.
class WeightAverage {
 public:
  explicit WeightAverage(AveragedModelOptions options) : options_(std::move(options)) {}

  /// Throws std::invalid_argument, and changes nothing, if the modules have different numbers of
  /// parameters or buffers, or tensors of different shapes.
  void update(const nn::Module& averaged, const nn::Module& model,
              const Tensor& num_averaged) const;

 private:
  AveragedModelOptions options_;
};

/// A copy of a model whose parameters are averages of the model's:
///
///   optim::AveragedModel ema(model, {.avg_fn = optim::get_ema_avg_fn(0.999)});
///   for (...) {
///     ...
///     optimizer.step();
///     ema.update_parameters(model);
///   }
///   evaluate(ema.module);
///
/// The first update_parameters() copies the values. Averages have the dtype of the parameters: keep
/// those in float32, because a 16-bit average loses every change below half its spacing. The state
/// is the buffer "n_averaged" and that of "module"; the function is not part of it. No update waits
/// for a GPU.
template <class M>
class AveragedModel : public nn::Callable<AveragedModel<M>> {
 public:
  /// Copies the model by clone(), and throws as that if the type of the model has none.
  explicit AveragedModel(const M& model, AveragedModelOptions options = {})
      : AveragedModel(model, *model.clone()->template as<M>(), std::move(options)) {}
  /// For types without clone(): `copy` is another model of the same structure, which becomes
  /// `module` and gets the values of `model`.
  // nvcc warns of a line that starts with the word module.
  // clang-format off
  AveragedModel(const M& model, M copy, AveragedModelOptions options = {})
      : nn::Callable<AveragedModel<M>>("AveragedModel"), module(this->register_module(
            "module", std::move(copy))),
        n_averaged(this->register_buffer("n_averaged", count_beside(model))),
        average_(std::move(options)) {
    // clang-format on
    this->module.load_state_dict(model.state_dict());
  }

  /// Adds the present values of the model to the averages.
  void update_parameters(const M& model) { average_.update(module, model, n_averaged); }

  template <class... Args>
  auto forward(Args&&... args) const {
    return module(std::forward<Args>(args)...);
  }

  M module;           ///< the averages
  Tensor n_averaged;  ///< the number of values in each average: int64, 0-dim

 private:
  static Tensor count_beside(const nn::Module& model) {
    const auto params = model.parameters();
    const Device device = params.empty() ? Device() : params[0].device();
    return Tensor(Array::full({}, 0, kLong, device));
  }

  WeightAverage average_;
};

/// The state of a model during update_bn(): no gradients, training mode, running statistics that
/// begin anew as plain averages. The destructor restores the modes.
class BatchNormUpdate {
 public:
  explicit BatchNormUpdate(const nn::Module& model);
  ~BatchNormUpdate();
  BatchNormUpdate(const BatchNormUpdate&) = delete;
  BatchNormUpdate& operator=(const BatchNormUpdate&) = delete;

  /// True if no layer of the model has running statistics.
  bool is_empty() const { return is_empty_; }

 private:
  NoGradGuard no_grad_;
  std::vector<std::pair<std::shared_ptr<nn::Module>, bool>> training_;  ///< parents first
  bool is_empty_ = true;
  bool outer_;
};

/// A batch as compat/'s Example: a struct with a member `data`.
template <class Batch>
concept HasData = requires(const Batch& batch) {
  batch.data;
};

/// Computes the running statistics of every BatchNorm1d of `model` anew, as
/// torch.optim.swa_utils.update_bn: resets them, runs the model in training mode on each batch of
/// the loader, and leaves the plain averages over all batches, whatever the momentum. Averaged
/// weights need this, because no forward pass has seen their activations:
///
///   optim::update_bn(loader, ema);
///
/// A batch is a tensor, a pair or tuple whose first element is the input, or a struct whose member
/// `data` is. The input goes to `device` if one is given. Records no gradients, and restores the
/// mode of each module. Does nothing, and reads no batch, if the model has no BatchNorm1d with
/// running statistics.
template <class Loader, class M>
void update_bn(Loader&& loader, const M& model,
               const std::optional<Device>& device = std::nullopt) {
  const BatchNormUpdate update(model);
  if (update.is_empty()) return;
  const auto input_of = [](const auto& value) -> Tensor {
    if constexpr (std::is_convertible_v<decltype(value), Tensor>) {
      return value;
    } else if constexpr (HasData<std::remove_cvref_t<decltype(value)>>) {
      return value.data;
    } else {
      return std::get<0>(value);
    }
  };
  for (const auto& batch : loader) {
    const Tensor input = input_of(batch);
    static_cast<void>(model(device ? input.to(*device) : input));
  }
}

}  // namespace halfgrad::optim
