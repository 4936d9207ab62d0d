#pragma once

#include <halfgrad/compat/names.h>

#include <cstddef>
#include <optional>
#include <string>

#include <halfgrad/compat/data/dataset.h>

namespace halfgrad::data::datasets {

/// The handwritten digits of MNIST: images float32 [1, 28, 28] in [0, 1], targets int64 [].
class MNIST : public Dataset<MNIST> {
 public:
  enum class Mode { kTrain, kTest };

  /// Reads the files in the folder `root`, as load_mnist() does.
  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain);

  Example<> get(std::size_t index) override;
  std::optional<std::size_t> size() const override;
  bool is_train() const noexcept { return mode_ == Mode::kTrain; }
  const Tensor& images() const { return images_; }    ///< [n, 1, 28, 28]
  const Tensor& targets() const { return targets_; }  ///< [n]

 private:
  Mode mode_;
  Tensor images_, targets_;
};

}  // namespace halfgrad::data::datasets
