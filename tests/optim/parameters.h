#pragma once

#include <cstddef>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>

/// Parameters with given gradients, and the files of expected values.
namespace halfgrad::testing {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

inline Tensor tensor_of(const std::vector<double>& values, DType dtype = DType::f64) {
  return tensor(values, {.dtype = dtype});
}

inline Tensor parameter(const std::vector<double>& values, DType dtype = DType::f64) {
  return tensor_of(values, dtype).requires_grad_();
}

inline void give_grad(Tensor& param, const std::vector<double>& values) {
  param.set_grad(tensor_of(values, param.dtype()));
}

inline std::vector<double> values(const Tensor& tensor) { return tensor.to_vector<double>(); }

inline std::vector<std::byte> bytes_of(const Array& array) {
  const Array host = array.to(Device()).contiguous();
  return {host.data(), host.data() + host.numel() * item_size(host.dtype())};
}

inline nlohmann::json expected_values(const std::string& file) {
  std::ifstream stream(std::string(HALFGRAD_SOURCE_DIR "/tests/expected/") + file);
  return nlohmann::json::parse(stream);
}

/// A number, or "nan", "inf", "-inf".
inline double number(const nlohmann::json& value) {
  return value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>();
}

inline std::vector<double> numbers(const nlohmann::json& values) {
  std::vector<double> result;
  for (const auto& value : values) result.push_back(number(value));
  return result;
}

}  // namespace halfgrad::testing
