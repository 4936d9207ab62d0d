#include <halfgrad/autograd/op_table/op_table.h>

namespace halfgrad {
namespace detail {

// Each entry is defined in the file of its op, autograd/ops/*.cpp.
OpEntry add_entry();
OpEntry sub_entry();
OpEntry mul_entry();
OpEntry div_entry();
OpEntry remainder_entry();
OpEntry fmod_entry();
OpEntry neg_entry();
OpEntry pow_entry();
OpEntry maximum_entry();
OpEntry minimum_entry();
OpEntry clamp_entry();
OpEntry lerp_entry();
OpEntry addcmul_entry();
OpEntry addcdiv_entry();
OpEntry where_entry();
OpEntry abs_entry();
OpEntry exp_entry();
OpEntry exp2_entry();
OpEntry expm1_entry();
OpEntry log_entry();
OpEntry log2_entry();
OpEntry log10_entry();
OpEntry log1p_entry();
OpEntry sqrt_entry();
OpEntry rsqrt_entry();
OpEntry reciprocal_entry();
OpEntry square_entry();
OpEntry sin_entry();
OpEntry cos_entry();
OpEntry tan_entry();
OpEntry tanh_entry();
OpEntry erf_entry();
OpEntry floor_entry();
OpEntry ceil_entry();
OpEntry round_entry();
OpEntry trunc_entry();
OpEntry sign_entry();
OpEntry sigmoid_entry();
OpEntry relu_entry();
OpEntry leaky_relu_entry();
OpEntry elu_entry();
OpEntry gelu_entry();
OpEntry silu_entry();
OpEntry softplus_entry();
OpEntry softshrink_entry();
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
OpEntry sum_entry();
OpEntry mean_entry();
OpEntry prod_entry();
OpEntry var_entry();
OpEntry std_entry();
OpEntry amax_entry();
OpEntry amin_entry();
OpEntry argmax_entry();
OpEntry argmin_entry();
OpEntry norm_entry();
OpEntry logsumexp_entry();
OpEntry all_entry();
OpEntry any_entry();
OpEntry softmax_entry();
OpEntry log_softmax_entry();
OpEntry layer_norm_entry();
OpEntry rms_norm_entry();
OpEntry batch_norm_entry();
OpEntry group_norm_entry();
OpEntry dropout_entry();
OpEntry scaled_dot_product_attention_entry();
OpEntry rope_entry();
OpEntry swiglu_entry();
OpEntry cross_entropy_entry();
OpEntry nll_loss_entry();
OpEntry mse_loss_entry();
OpEntry l1_loss_entry();
OpEntry smooth_l1_loss_entry();
OpEntry huber_loss_entry();
OpEntry binary_cross_entropy_entry();
OpEntry binary_cross_entropy_with_logits_entry();
OpEntry kl_div_entry();
OpEntry reshape_entry();
OpEntry flatten_entry();
OpEntry squeeze_entry();
OpEntry unsqueeze_entry();
OpEntry transpose_entry();
OpEntry permute_entry();
OpEntry expand_entry();
OpEntry slice_entry();
OpEntry select_entry();
OpEntry as_strided_entry();
OpEntry cat_entry();
OpEntry stack_entry();
OpEntry gather_entry();
OpEntry scatter_add_entry();
OpEntry index_select_entry();
OpEntry masked_fill_entry();
OpEntry embedding_entry();
OpEntry one_hot_entry();
OpEntry argsort_entry();
OpEntry cumsum_entry();
OpEntry matmul_entry();
OpEntry mm_entry();
OpEntry bmm_entry();
OpEntry mv_entry();
OpEntry dot_entry();
OpEntry outer_entry();
OpEntry addmm_entry();
OpEntry baddbmm_entry();
OpEntry linear_entry();
OpEntry linear_relu_entry();
OpEntry linear_gelu_entry();
OpEntry mlp_entry();
OpEntry mlp_cross_entropy_entry();

}  // namespace detail

const std::vector<OpEntry>& all_ops() {
  static const std::vector<OpEntry> ops = {
      // Arithmetic
      detail::add_entry(),
      detail::sub_entry(),
      detail::mul_entry(),
      detail::div_entry(),
      detail::remainder_entry(),
      detail::fmod_entry(),
      detail::neg_entry(),
      detail::pow_entry(),
      detail::maximum_entry(),
      detail::minimum_entry(),
      detail::clamp_entry(),
      detail::lerp_entry(),
      detail::addcmul_entry(),
      detail::addcdiv_entry(),
      detail::where_entry(),
      // Functions of one element
      detail::abs_entry(),
      detail::exp_entry(),
      detail::exp2_entry(),
      detail::expm1_entry(),
      detail::log_entry(),
      detail::log2_entry(),
      detail::log10_entry(),
      detail::log1p_entry(),
      detail::sqrt_entry(),
      detail::rsqrt_entry(),
      detail::reciprocal_entry(),
      detail::square_entry(),
      detail::sin_entry(),
      detail::cos_entry(),
      detail::tan_entry(),
      detail::tanh_entry(),
      detail::erf_entry(),
      detail::floor_entry(),
      detail::ceil_entry(),
      detail::round_entry(),
      detail::trunc_entry(),
      detail::sign_entry(),
      // Activations
      detail::sigmoid_entry(),
      detail::relu_entry(),
      detail::leaky_relu_entry(),
      detail::elu_entry(),
      detail::gelu_entry(),
      detail::silu_entry(),
      detail::softplus_entry(),
      detail::softshrink_entry(),
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
      // Reductions
      detail::sum_entry(),
      detail::mean_entry(),
      detail::prod_entry(),
      detail::var_entry(),
      detail::std_entry(),
      detail::amax_entry(),
      detail::amin_entry(),
      detail::argmax_entry(),
      detail::argmin_entry(),
      detail::norm_entry(),
      detail::logsumexp_entry(),
      detail::all_entry(),
      detail::any_entry(),
      // Rows
      detail::softmax_entry(),
      detail::log_softmax_entry(),
      detail::layer_norm_entry(),
      detail::rms_norm_entry(),
      detail::batch_norm_entry(),
      detail::group_norm_entry(),
      detail::dropout_entry(),
      detail::scaled_dot_product_attention_entry(),
      detail::rope_entry(),
      detail::swiglu_entry(),
      // Losses
      detail::cross_entropy_entry(),
      detail::nll_loss_entry(),
      detail::mse_loss_entry(),
      detail::l1_loss_entry(),
      detail::smooth_l1_loss_entry(),
      detail::huber_loss_entry(),
      detail::binary_cross_entropy_entry(),
      detail::binary_cross_entropy_with_logits_entry(),
      detail::kl_div_entry(),
      // Views
      detail::reshape_entry(),
      detail::flatten_entry(),
      detail::squeeze_entry(),
      detail::unsqueeze_entry(),
      detail::transpose_entry(),
      detail::permute_entry(),
      detail::expand_entry(),
      detail::slice_entry(),
      detail::select_entry(),
      detail::as_strided_entry(),
      // Joining and indexing
      detail::cat_entry(),
      detail::stack_entry(),
      detail::gather_entry(),
      detail::scatter_add_entry(),
      detail::index_select_entry(),
      detail::masked_fill_entry(),
      detail::embedding_entry(),
      detail::one_hot_entry(),
      // Sorting and running sums
      detail::argsort_entry(),
      detail::cumsum_entry(),
      // Products
      detail::matmul_entry(),
      detail::mm_entry(),
      detail::bmm_entry(),
      detail::mv_entry(),
      detail::dot_entry(),
      detail::outer_entry(),
      detail::addmm_entry(),
      detail::baddbmm_entry(),
      detail::linear_entry(),
      detail::linear_relu_entry(),
      detail::linear_gelu_entry(),
      detail::mlp_entry(),
      detail::mlp_cross_entropy_entry(),
  };
  return ops;
}

}  // namespace halfgrad
