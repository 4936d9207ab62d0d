#include <halfgrad/autograd/attention.h>
#include <halfgrad/autograd/group_norm.h>
#include <halfgrad/autograd/linear_activation.h>
#include <halfgrad/autograd/mlp.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/transformer.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/nn/embedding.h>
#include <halfgrad/python/bindings/op_binder.h>

/// Matrix products, ops of rows and indexing by tensors.
namespace halfgrad::python {
namespace {

using OptionalDType = std::optional<DType>;

std::vector<Tensor> all_or_undefined(const std::vector<OptionalTensor>& tensors) {
  std::vector<Tensor> defined;
  for (const OptionalTensor& tensor : tensors) defined.push_back(or_undefined(tensor));
  return defined;
}

void bind_matrix_products(OpBinder& ops) {
  ops.both("matmul", &matmul, "other"_a, "The product of vectors, matrices or batches of them.");
  ops.both("mm", &mm, "mat2"_a, "[n, k] @ [k, m].");
  ops.both("bmm", &bmm, "mat2"_a, "[b, n, k] @ [b, k, m].");
  ops.both("mv", &mv, "vec"_a, "[n, k] @ [k].");
  ops.both("dot", &dot, "tensor"_a, "The sum of products of two vectors.");
  ops.both("outer", &outer, "vec2"_a, "All products of two vectors: [n, m].");
  ops.both("cross", &cross, "other"_a, "dim"_a = nb::none(),
           "The vector product along `dim`, of size 3; by default the first such dimension.");
  ops.both("addmm", &addmm, "mat1"_a, "mat2"_a, nb::kw_only(), "beta"_a = 1, "alpha"_a = 1,
           "beta * input + alpha * mat1 @ mat2.");
  ops.both("baddbmm", &baddbmm, "batch1"_a, "batch2"_a, nb::kw_only(), "beta"_a = 1, "alpha"_a = 1,
           "addmm() for batches [b, n, k] and [b, k, m].");
  ops.function(
      "linear",
      [](const Tensor& input, const Tensor& weight, const OptionalTensor& bias) {
        return linear(input, weight, or_undefined(bias));
      },
      "input"_a, "weight"_a, "bias"_a = nb::none(),
      "input [..., in] @ weight [out, in]^T + bias [out]. 16-bit operands are accumulated\n"
      "in float32; under autocast they are float16 or bfloat16.");
  ops.function(
      "linear_relu",
      [](const Tensor& input, const Tensor& weight, const OptionalTensor& bias) {
        return linear_relu(input, weight, or_undefined(bias));
      },
      "input"_a, "weight"_a, "bias"_a = nb::none(), "relu(linear(input, weight, bias)).");
  ops.function(
      "linear_gelu",
      [](const Tensor& input, const Tensor& weight, const OptionalTensor& bias) {
        return linear_gelu(input, weight, or_undefined(bias));
      },
      "input"_a, "weight"_a, "bias"_a = nb::none(), "gelu(linear(input, weight, bias), \"tanh\").");
  ops.function(
      "mlp",
      [](const Tensor& input, const std::vector<Tensor>& weights,
         const std::vector<OptionalTensor>& biases, const std::string& activation) {
        return mlp(input, weights, all_or_undefined(biases), activation);
      },
      "input"_a, "weights"_a, "biases"_a = std::vector<OptionalTensor>(), "activation"_a = "relu",
      "Linear layers with an activation between them as one op: \"relu\", \"gelu\" or\n"
      "\"gelu_tanh\". biases is empty, or has a tensor or None for each layer.");
  ops.function(
      "mlp_cross_entropy",
      [](const Tensor& input, const std::vector<Tensor>& weights,
         const std::vector<OptionalTensor>& biases, const Tensor& target,
         const std::string& activation) {
        return mlp_cross_entropy(input, weights, all_or_undefined(biases), target, activation);
      },
      "input"_a, "weights"_a, "biases"_a, "target"_a, "activation"_a = "relu",
      "cross_entropy(mlp(input, weights, biases), target) as one op. target is int64, with the\n"
      "leading dimensions of the input, and has no index to ignore. If a gradient is needed, the\n"
      "loss is computed by backward(), or when somebody looks at it.");
}

void bind_einsum(nb::module_& module) {
  module.def(
      "einsum",
      [](const std::string& equation, const nb::args& operands) {
        const bool is_list = operands.size() == 1 && !nb::isinstance<Tensor>(operands[0]);
        const auto tensors = read<std::vector<Tensor>>(
            is_list ? nb::object(operands[0]) : nb::object(operands), "einsum", "operands");
        const nb::gil_scoped_release release;
        return einsum(equation, tensors);
      },
      "equation"_a, "operands"_a,
      "Sums of products by an equation such as \"bij,bjk->bik\", of tensors or a list of them.");
}

void bind_in_place_products(OpBinder& ops) {
  ops.in_place(
      "addmm_",
      [](Tensor& self, const Tensor& mat1, const Tensor& mat2, Scalar beta,
         Scalar alpha) -> Tensor& { return self.addmm_(mat1, mat2, beta, alpha); },
      "mat1"_a, "mat2"_a, nb::kw_only(), "beta"_a = 1, "alpha"_a = 1);
  ops.in_place(
      "baddbmm_",
      [](Tensor& self, const Tensor& batch1, const Tensor& batch2, Scalar beta,
         Scalar alpha) -> Tensor& { return self.baddbmm_(batch1, batch2, beta, alpha); },
      "batch1"_a, "batch2"_a, nb::kw_only(), "beta"_a = 1, "alpha"_a = 1);
}

void bind_rows(OpBinder& ops) {
  ops.both(
      "softmax", &softmax, "dim"_a, "dtype"_a = nb::none(),
      "e^x / sum e^x along `dim`, computed without overflow. The input is converted to `dtype`\n"
      "first, if one is given. Runs in float32 under autocast.");
  ops.both("log_softmax", &log_softmax, "dim"_a, "dtype"_a = nb::none(), "log(softmax(input)).");
  ops.function(
      "layer_norm",
      [](const Tensor& input, const Shape& shape, const OptionalTensor& weight,
         const OptionalTensor& bias, double eps) {
        return layer_norm(input, shape, or_undefined(weight), or_undefined(bias), eps);
      },
      "input"_a, "normalized_shape"_a, "weight"_a = nb::none(), "bias"_a = nb::none(),
      "eps"_a = 1e-5,
      "(x - mean) / sqrt(var + eps) * weight + bias over the last dimensions, whose sizes are\n"
      "normalized_shape.");
  ops.function(
      "rms_norm",
      [](const Tensor& input, const Shape& shape, const OptionalTensor& weight,
         std::optional<double> eps) { return rms_norm(input, shape, or_undefined(weight), eps); },
      "input"_a, "normalized_shape"_a, "weight"_a = nb::none(), "eps"_a = nb::none(),
      "x / sqrt(mean(x^2) + eps) * weight over the last dimensions.");
  ops.function(
      "batch_norm",
      [](const Tensor& input, const OptionalTensor& mean, const OptionalTensor& var,
         const OptionalTensor& weight, const OptionalTensor& bias, bool training, double momentum,
         double eps) {
        return batch_norm(input, or_undefined(weight), or_undefined(bias), or_undefined(mean),
                          or_undefined(var), training, momentum, eps);
      },
      "input"_a, "running_mean"_a.none(), "running_var"_a.none(), "weight"_a = nb::none(),
      "bias"_a = nb::none(), "training"_a = false, "momentum"_a = 0.1, "eps"_a = 1e-5,
      "Normalizes each channel, dimension 1. In training updates the running statistics.");
  ops.function(
      "group_norm",
      [](const Tensor& input, std::int64_t groups, const OptionalTensor& weight,
         const OptionalTensor& bias, double eps) {
        return group_norm(input, groups, or_undefined(weight), or_undefined(bias), eps);
      },
      "input"_a, "num_groups"_a, "weight"_a = nb::none(), "bias"_a = nb::none(), "eps"_a = 1e-5,
      "Normalizes groups of consecutive channels, dimension 1, of each sample.");
  ops.function(
      "scaled_dot_product_attention",
      [](const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& mask,
         double dropout_p, bool is_causal, std::optional<double> scale, bool enable_gqa) {
        return scaled_dot_product_attention(query, key, value, or_undefined(mask), dropout_p,
                                            is_causal, scale, enable_gqa);
      },
      "query"_a, "key"_a, "value"_a, "attn_mask"_a = nb::none(), "dropout_p"_a = 0.0,
      "is_causal"_a = false, nb::kw_only(), "scale"_a = nb::none(), "enable_gqa"_a = false,
      "softmax(query key^T scale + mask) value, for [..., l, e], [..., s, e] and [..., s, v].\n"
      "`scale` is 1 / sqrt(e) by default. A mask of bool is True where a key takes part; another\n"
      "is added. The scores are not stored. With enable_gqa, key and value may have fewer heads.\n"
      "Raises ValueError for a mask together with is_causal.");
  ops.function(
      "rope",
      [](const Tensor& input, double base, std::int64_t offset, bool interleaved) {
        return rope(input, {.base = base, .offset = offset, .interleaved = interleaved});
      },
      "input"_a, nb::kw_only(), "base"_a = 10000.0, "offset"_a = 0, "interleaved"_a = false,
      "Rotary position embedding of [..., l, e]: turns each pair of features of row p by\n"
      "(offset + p) base^(-2i / e). A pair is i and i + e / 2, or 2i and 2i + 1 if interleaved.");
  ops.function(
      "swiglu",
      [](const Tensor& input, const OptionalTensor& up) {
        return up ? swiglu(input, *up) : swiglu(input);
      },
      "input"_a, "up"_a = nb::none(),
      "silu(input) * up, rounded once. Without `up`, that of the halves of the input along its\n"
      "last dimension, of which the first is the gate.");
  ops.function("dropout", &dropout, "input"_a, "p"_a = 0.5, "training"_a = true,
               "In training zeroes each element with probability p and divides others by 1 - p.");
}

void bind_tensor_indices(OpBinder& ops) {
  ops.both("gather", &gather, "dim"_a, "index"_a, "y[i][j] = x[index[i][j]][j] for dim 0.");
  ops.both("scatter_add", &scatter_add, "dim"_a, "index"_a, "src"_a,
           "Adds src[i][j] to y[index[i][j]][j] for dim 0, where y is a copy of the input.");
  ops.in_place(
      "scatter_add_",
      [](Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) -> Tensor& {
        return self.scatter_add_(dim, index, src);
      },
      "dim"_a, "index"_a, "src"_a);
  ops.both("index_select", &index_select, "dim"_a, "index"_a, "The slices that `index` lists.");
  ops.both("masked_select", &masked_select, "mask"_a, "The elements where mask is True: [count].");
  ops.both("masked_fill",
           static_cast<Tensor (*)(const Tensor&, const Tensor&, Scalar)>(&masked_fill), "mask"_a,
           "value"_a, "Puts `value` where mask is True.");
  ops.in_place(
      "masked_fill_",
      [](Tensor& self, const Tensor& mask, Scalar value) -> Tensor& {
        return self.masked_fill_(mask, value);
      },
      "mask"_a, "value"_a);
  ops.function(
      "embedding",
      [](const Tensor& input, const Tensor& weight, std::optional<std::int64_t> padding,
         std::optional<double> max_norm, double norm_type, bool by_frequency, bool sparse) {
        if (sparse) detail::fail("embedding", "expected sparse=False, got True");
        return nn::embedding_with(weight, input, padding, {max_norm, norm_type, by_frequency});
      },
      "input"_a, "weight"_a, "padding_idx"_a = nb::none(), "max_norm"_a = nb::none(),
      "norm_type"_a = 2.0, "scale_grad_by_freq"_a = false, "sparse"_a = false,
      "Rows of weight [n, d] that the indices (any shape) pick: [..., d]. With max_norm the rows "
      "that\nare read are first scaled down to this norm_type-norm, in place.");
  ops.function("one_hot", &one_hot, "input"_a, "num_classes"_a = -1,
               "int64 [..., num_classes]; -1 takes the largest index plus one.");
}

}  // namespace

void bind_products(nb::module_& module, TensorClass& tensor) {
  OpBinder ops(module, tensor);
  bind_matrix_products(ops);
  bind_einsum(module);
  bind_in_place_products(ops);
  bind_rows(ops);
  bind_tensor_indices(ops);
}

}  // namespace halfgrad::python
