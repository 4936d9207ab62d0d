#include <halfgrad/compat/parameters.h>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::nn::utils {

Tensor parameters_to_vector(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> flat;
  for (const Tensor& parameter : parameters) flat.push_back(parameter.flatten());
  return cat(flat);
}

void vector_to_parameters(const Tensor& vector, const std::vector<Tensor>& parameters) {
  std::int64_t count = 0;
  for (const Tensor& parameter : parameters) count += parameter.numel();
  if (vector.dim() != 1 || vector.numel() != count) {
    halfgrad::detail::fail("vector_to_parameters", "expected a vector of {} elements, got {}",
                           count, vector.sizes());
  }
  std::int64_t start = 0;
  for (const Tensor& parameter : parameters) {
    const Tensor part = vector.slice(0, start, start + parameter.numel());
    parameter.set_data(part.detach().reshape(parameter.sizes()).clone());
    start += parameter.numel();
  }
}

}  // namespace halfgrad::nn::utils
