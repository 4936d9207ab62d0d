#include <halfgrad/autograd/op_table.h>

namespace halfgrad {
namespace detail {

// Each stands on its op's page.
OpEntry add_entry();
OpEntry mul_entry();
OpEntry div_entry();
OpEntry neg_entry();
OpEntry pow_entry();
OpEntry maximum_entry();
OpEntry minimum_entry();
OpEntry clamp_entry();
OpEntry lerp_entry();
OpEntry where_entry();
OpEntry abs_entry();
OpEntry exp_entry();
OpEntry expm1_entry();
OpEntry log_entry();
OpEntry log1p_entry();
OpEntry sqrt_entry();
OpEntry rsqrt_entry();
OpEntry reciprocal_entry();
OpEntry square_entry();
OpEntry sin_entry();
OpEntry cos_entry();
OpEntry tanh_entry();
OpEntry erf_entry();
OpEntry sigmoid_entry();
OpEntry relu_entry();
OpEntry leaky_relu_entry();
OpEntry elu_entry();
OpEntry gelu_entry();
OpEntry silu_entry();
OpEntry softplus_entry();
OpEntry eq_entry();
OpEntry ne_entry();
OpEntry lt_entry();
OpEntry le_entry();
OpEntry gt_entry();
OpEntry ge_entry();
OpEntry logical_and_entry();
OpEntry logical_or_entry();
OpEntry logical_xor_entry();
OpEntry logical_not_entry();
OpEntry isfinite_entry();
OpEntry isinf_entry();
OpEntry isnan_entry();

}  // namespace detail

const std::vector<OpEntry>& all_ops() {
  static const std::vector<OpEntry> ops = {
      // Arithmetic
      detail::add_entry(),
      detail::mul_entry(),
      detail::div_entry(),
      detail::neg_entry(),
      detail::pow_entry(),
      detail::maximum_entry(),
      detail::minimum_entry(),
      detail::clamp_entry(),
      detail::lerp_entry(),
      detail::where_entry(),
      // Functions of one number
      detail::abs_entry(),
      detail::exp_entry(),
      detail::expm1_entry(),
      detail::log_entry(),
      detail::log1p_entry(),
      detail::sqrt_entry(),
      detail::rsqrt_entry(),
      detail::reciprocal_entry(),
      detail::square_entry(),
      detail::sin_entry(),
      detail::cos_entry(),
      detail::tanh_entry(),
      detail::erf_entry(),
      // Activations
      detail::sigmoid_entry(),
      detail::relu_entry(),
      detail::leaky_relu_entry(),
      detail::elu_entry(),
      detail::gelu_entry(),
      detail::silu_entry(),
      detail::softplus_entry(),
      // Comparisons and logic
      detail::eq_entry(),
      detail::ne_entry(),
      detail::lt_entry(),
      detail::le_entry(),
      detail::gt_entry(),
      detail::ge_entry(),
      detail::logical_and_entry(),
      detail::logical_or_entry(),
      detail::logical_xor_entry(),
      detail::logical_not_entry(),
      detail::isfinite_entry(),
      detail::isinf_entry(),
      detail::isnan_entry(),
  };
  return ops;
}

}  // namespace halfgrad
