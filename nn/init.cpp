#include <halfgrad/nn/init.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <halfgrad/core/fail.h>
#include <halfgrad/core/random.h>

namespace halfgrad::nn::init {
namespace {

Tensor overwritten(Tensor tensor) {
  tensor.array().storage()->bump_version();
  return tensor;
}

void check_matrix(const Tensor& tensor, const char* op) {
  if (tensor.dim() < 2) {
    halfgrad::detail::fail(op, "expected at least 2 dimensions, got shape {}", tensor.sizes());
  }
}

Tensor uniform_within(Tensor tensor, double std) {
  const double bound = std::sqrt(3.0) * std;
  return uniform_(std::move(tensor), -bound, bound);
}

double kaiming_std(const Tensor& tensor, double a, FanMode mode, Nonlinearity nonlinearity) {
  const auto [fan_in, fan_out] = calculate_fan_in_and_fan_out(tensor);
  const auto fan = static_cast<double>(mode == kFanIn ? fan_in : fan_out);
  return calculate_gain(nonlinearity, a) / std::sqrt(std::max(fan, 1.0));
}

double xavier_std(const Tensor& tensor, double gain) {
  const auto [fan_in, fan_out] = calculate_fan_in_and_fan_out(tensor);
  return gain * std::sqrt(2.0 / std::max(static_cast<double>(fan_in + fan_out), 1.0));
}

/// Makes the columns of a matrix orthonormal from left to right, as QR with a positive diagonal of
/// R does: Gram-Schmidt, applied twice, which is orthonormal to double precision (Giraud, Langou
/// and Rozloznik, 2005).
void orthonormalize(std::vector<std::vector<double>>& columns) {
  const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  for (std::size_t j = 0; j < columns.size(); ++j) {
    std::vector<double>& column = columns[j];
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t k = 0; k < j; ++k) {
        const double along = dot(columns[k], column);
        for (std::size_t i = 0; i < column.size(); ++i) column[i] -= along * columns[k][i];
      }
    }
    const double length = std::sqrt(dot(column, column));
    for (double& x : column) x /= length;
  }
}

}  // namespace

double calculate_gain(Nonlinearity nonlinearity, double param) {
  switch (nonlinearity) {
    case Nonlinearity::linear:
    case Nonlinearity::sigmoid:
      return 1;
    case Nonlinearity::tanh:
      return 5.0 / 3.0;
    case Nonlinearity::relu:
      return std::sqrt(2.0);
    case Nonlinearity::leaky_relu:
      return std::sqrt(2.0 / (1 + param * param));
    case Nonlinearity::selu:
      return 3.0 / 4.0;
  }
  halfgrad::detail::fail<std::logic_error>("calculate_gain",
                                           "expected a nonlinearity, got an unknown enumerator");
}

std::pair<std::int64_t, std::int64_t> calculate_fan_in_and_fan_out(const Tensor& tensor) {
  check_matrix(tensor, "calculate_fan_in_and_fan_out");
  std::int64_t field = 1;
  for (int d = 2; d < tensor.dim(); ++d) field *= tensor.size(d);
  return {tensor.size(1) * field, tensor.size(0) * field};
}

Tensor uniform_(Tensor tensor, double a, double b) {
  random::uniform(tensor.array(), a, b, default_generator().take());
  return overwritten(tensor);
}

Tensor normal_(Tensor tensor, double mean, double std) {
  random::normal(tensor.array(), mean, std, default_generator().take());
  return overwritten(tensor);
}

Tensor constant_(Tensor tensor, double value) {
  tensor.array().fill_(value);
  return overwritten(tensor);
}

Tensor zeros_(Tensor tensor) { return constant_(std::move(tensor), 0); }
Tensor ones_(Tensor tensor) { return constant_(std::move(tensor), 1); }

Tensor eye_(Tensor tensor) {
  if (tensor.dim() != 2) {
    halfgrad::detail::fail("eye_", "expected 2 dimensions, got shape {}", tensor.sizes());
  }
  const Array& array = tensor.array();
  array.fill_(0);
  const std::int64_t n = std::min(array.size(0), array.size(1));
  if (n > 0) {
    const std::int64_t diagonal = array.strides()[0] + array.strides()[1];
    array.as_strided({n}, {diagonal}, array.storage_offset()).fill_(1);
  }
  return overwritten(tensor);
}

Tensor kaiming_uniform_(Tensor tensor, double a, FanMode mode, Nonlinearity nonlinearity) {
  return uniform_within(tensor, kaiming_std(tensor, a, mode, nonlinearity));
}

Tensor kaiming_normal_(Tensor tensor, double a, FanMode mode, Nonlinearity nonlinearity) {
  return normal_(tensor, 0, kaiming_std(tensor, a, mode, nonlinearity));
}

Tensor xavier_uniform_(Tensor tensor, double gain) {
  return uniform_within(tensor, xavier_std(tensor, gain));
}

Tensor xavier_normal_(Tensor tensor, double gain) {
  return normal_(tensor, 0, xavier_std(tensor, gain));
}

Tensor orthogonal_(Tensor tensor, double gain) {
  check_matrix(tensor, "orthogonal_");
  const std::int64_t rows = tensor.size(0);
  const std::int64_t cols = rows == 0 ? 0 : tensor.numel() / rows;
  const auto count = static_cast<std::size_t>(std::min(rows, cols));
  const auto length = static_cast<std::size_t>(std::max(rows, cols));
  std::vector<std::vector<double>> columns(count, std::vector<double>(length));
  for (auto& column : columns) {
    const Array drawn = Array::empty({std::max(rows, cols)}, kFloat64);
    random::normal(drawn, 0, 1, default_generator().take());
    std::copy_n(drawn.data_as<double>(), length, column.data());
  }
  orthonormalize(columns);

  const Array matrix = Array::empty({std::min(rows, cols), std::max(rows, cols)}, kFloat64);
  for (std::size_t j = 0; j < count; ++j) {
    for (std::size_t i = 0; i < length; ++i) {
      matrix.data_as<double>()[j * length + i] = gain * columns[j][i];
    }
  }
  const Array oriented = rows > cols ? matrix.transpose(0, 1) : matrix;
  tensor.array().copy_(oriented.reshape(tensor.sizes()).to(tensor.device()));
  return overwritten(tensor);
}

}  // namespace halfgrad::nn::init
