#include <string>
#include <tuple>

#include <halfgrad/core/fail.h>
#include <halfgrad/nn/multi_head_attention_forward.h>
#include <halfgrad/python/bindings/bindings.h>

namespace halfgrad::python {

void bind_attention(nb::module_& module) {
  nb::module_ nn = nb::borrow<nb::module_>(module.attr("nn"));
  nn.def(
      "multi_head_attention_forward",
      [](const Tensor& query, const Tensor& key, const Tensor& value, std::int64_t embed_dim,
         std::int64_t num_heads, const OptionalTensor& in_proj_weight,
         const OptionalTensor& in_proj_bias, const OptionalTensor& bias_k,
         const OptionalTensor& bias_v, bool add_zero_attn, double dropout_p,
         const Tensor& out_proj_weight, const OptionalTensor& out_proj_bias, bool training,
         const OptionalTensor& key_padding_mask, bool need_weights, const OptionalTensor& attn_mask,
         bool use_separate_proj_weight, const OptionalTensor& q_proj_weight,
         const OptionalTensor& k_proj_weight, const OptionalTensor& v_proj_weight,
         bool average_attn_weights, bool is_causal) {
        if (is_causal && !attn_mask) {
          halfgrad::detail::fail<std::runtime_error>(
              "multi_head_attention_forward",
              "expected attn_mask with is_causal=True, which only says that the mask is causal, "
              "got None");
        }
        const auto [output, weights] = nn::functional::multi_head_attention_forward(
            query, key, value,
            {.embed_dim_to_check = embed_dim,
             .num_heads = num_heads,
             .in_proj_weight = or_undefined(in_proj_weight),
             .in_proj_bias = or_undefined(in_proj_bias),
             .bias_k = or_undefined(bias_k),
             .bias_v = or_undefined(bias_v),
             .add_zero_attn = add_zero_attn,
             .dropout_p = dropout_p,
             .out_proj_weight = out_proj_weight,
             .out_proj_bias = or_undefined(out_proj_bias),
             .training = training,
             .key_padding_mask = or_undefined(key_padding_mask),
             .need_weights = need_weights,
             .attn_mask = or_undefined(attn_mask),
             .use_separate_proj_weight = use_separate_proj_weight,
             .q_proj_weight = or_undefined(q_proj_weight),
             .k_proj_weight = or_undefined(k_proj_weight),
             .v_proj_weight = or_undefined(v_proj_weight),
             .average_attn_weights = average_attn_weights});
        return std::pair(output, weights.defined() ? OptionalTensor(weights) : std::nullopt);
      },
      "query"_a, "key"_a, "value"_a, "embed_dim_to_check"_a, "num_heads"_a,
      "in_proj_weight"_a.none(), "in_proj_bias"_a.none(), "bias_k"_a.none(), "bias_v"_a.none(),
      "add_zero_attn"_a, "dropout_p"_a, "out_proj_weight"_a, "out_proj_bias"_a.none(),
      "training"_a = true, "key_padding_mask"_a = nb::none(), "need_weights"_a = true,
      "attn_mask"_a = nb::none(), "use_separate_proj_weight"_a = false,
      "q_proj_weight"_a = nb::none(), "k_proj_weight"_a = nb::none(),
      "v_proj_weight"_a = nb::none(), "average_attn_weights"_a = true, "is_causal"_a = false,
      ReleaseGil(),
      "Attention of several heads, for query [l, n, e], key [s, n, kdim] and value [s, n, vdim]; "
      "see\n"
      "MultiheadAttention. Returns the output and the weights, or None for them.");
}

}  // namespace halfgrad::python
