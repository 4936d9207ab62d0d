#include <halfgrad/compat/data/mnist.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/data/mnist.h>

namespace halfgrad::data::datasets {

MNIST::MNIST(const std::string& root, Mode mode) : mode_(mode) {
  const DigitImages digits = load_mnist(root, is_train() ? Split::train : Split::test);
  const auto count = static_cast<std::int64_t>(digits.labels.size());
  const Shape sizes{count, 1, DigitImages::kSide, DigitImages::kSide};
  images_ = tensor(digits.pixels, sizes, {.device = kCPU}).to(kFloat32) / 255;
  targets_ = tensor(digits.labels, {.device = kCPU});
}

Example<> MNIST::get(std::size_t index) {
  const auto row = static_cast<std::int64_t>(index);
  return {images_[row], targets_[row]};
}

std::optional<std::size_t> MNIST::size() const {
  return static_cast<std::size_t>(targets_.size(0));
}

}  // namespace halfgrad::data::datasets
