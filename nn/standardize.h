#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/nn/module.h>

namespace halfgrad::nn {

struct StandardizeOptions {
  DType dtype = get_default_dtype();
  Device device = get_default_device();
};

/// Scales each feature to mean 0 and standard deviation 1, as measured once on the training data:
///
///     y = (x - mean) / std
///
/// As the first layer of a model it makes inputs in any units fit. mean and std are buffers, so
/// state_dict(), checkpoints and to() carry them, and no optimizer changes them. Unlike
/// BatchNorm1d, it does the same in training and evaluation.
///
///   auto scale = nn::Standardize(4);
///   scale.fit(x_train);  // never on the test data
///   auto model = nn::Sequential(scale, nn::Linear(4, 32), nn::ReLU(), nn::Linear(32, 3));
class Standardize : public Callable<Standardize> {
 public:
  template <std::same_as<std::nullptr_t> T>
  Standardize(T empty) : Callable(empty) {}
  /// Before fit() or load_state_dict(), mean and std are NaN.
  explicit Standardize(std::int64_t num_features, StandardizeOptions options = {});

  /// Sets mean and std, of the population, to those of x `[n, num_features]`, computed in double. A
  /// feature that is constant gets the std 1. Throws std::invalid_argument for another shape, for
  /// n = 0, and for a feature with an element that is not finite.
  void fit(const Tensor& x);
  /// `[..., num_features]` to the same shape. Throws std::invalid_argument for another shape, and
  /// before fit(); on a GPU, which would have to wait for that check, the result is then NaN.
  Tensor forward(const Tensor& input) const;
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    return clone_with(device, &Standardize::mean, &Standardize::std);
  }

  Tensor mean;  ///< [num_features]
  Tensor std;   ///< [num_features]; never 0

 private:
  std::int64_t num_features_ = 0;
};

}  // namespace halfgrad::nn
