#include <halfgrad/compat/functions.h>

#include <halfgrad/python/bindings/op_binder.h>
#include <halfgrad/python/bindings/reduction.h>

/// PyTorch's rarer activations, distances and losses, which are composed of other ops.
namespace halfgrad::python {
namespace {

void bind_composed_activations(OpBinder& ops) {
  ops.function("selu", &selu, "input"_a, "1.0507 * elu(input, 1.6733).");
  ops.function("celu", &celu, "input"_a, "alpha"_a = 1.0,
               "max(x, 0) + min(alpha * (e^(x / alpha) - 1), 0).");
  ops.function("hardtanh", &hardtanh, "input"_a, "min_val"_a = -1.0, "max_val"_a = 1.0,
               "Limits elements to [min_val, max_val].");
  ops.function("relu6", &relu6, "input"_a, "min(max(x, 0), 6).");
  ops.function("hardshrink", &hardshrink, "input"_a, "lambd"_a = 0.5, "x for |x| > lambd, else 0.");
  ops.function("hardsigmoid", &hardsigmoid, "input"_a, "relu6(x + 3) / 6.");
  ops.function("hardswish", &hardswish, "input"_a, "x * hardsigmoid(x).");
  ops.function("tanhshrink", &tanhshrink, "input"_a, "x - tanh(x).");
  ops.function("softsign", &softsign, "input"_a, "x / (1 + |x|).");
  ops.function("logsigmoid", &log_sigmoid, "input"_a, "log(sigmoid(x)), without overflow.");
  ops.function("mish", &mish, "input"_a, "x * tanh(softplus(x)).");
  ops.function("threshold", &threshold, "input"_a, "threshold"_a, "value"_a,
               "x for x > threshold, else value.");
  ops.function("prelu", &prelu, "input"_a, "weight"_a,
               "x for x > 0, else weight * x; one weight, or one for each channel (dimension 1).");
  ops.function(
      "rrelu", &rrelu, "input"_a, "lower"_a = 1.0 / 8, "upper"_a = 1.0 / 3, "training"_a = false,
      "leaky_relu with slopes drawn from [lower, upper); with their mean unless training.");
  ops.function("glu", &glu, "input"_a, "dim"_a = -1,
               "a * sigmoid(b), where a and b are the halves of input along `dim`.");
  ops.function(
      "softmin",
      [](const Tensor& input, std::int64_t dim, std::optional<DType> dtype) {
        return softmax(-input, dim, dtype);
      },
      "input"_a, "dim"_a, "dtype"_a = nb::none(), "softmax(-input).");
}

void bind_composed_layers(OpBinder& ops) {
  ops.function("alpha_dropout", &alpha_dropout, "input"_a, "p"_a = 0.5, "training"_a = false,
               "Dropout that keeps the mean 0 and the variance 1 of its input, for selu networks.");
  ops.function("dropout1d", &feature_dropout, "input"_a, "p"_a = 0.5, "training"_a = true,
               "Dropout of whole channels, dimension 1 of [n, c, ...].");
  ops.function(
      "bilinear",
      [](const Tensor& input1, const Tensor& input2, const Tensor& weight,
         const OptionalTensor& bias) {
        return bilinear(input1, input2, weight, or_undefined(bias));
      },
      "input1"_a, "input2"_a, "weight"_a, "bias"_a = nb::none(),
      "y_o = input1^T weight_o input2 + bias_o, for weight [out, n, m].");
  ops.function("cosine_similarity", &cosine_similarity, "x1"_a, "x2"_a, "dim"_a = 1, "eps"_a = 1e-8,
               "x1 x2 / max(|x1| |x2|, eps) along `dim`.");
  ops.function("pairwise_distance", &pairwise_distance, "x1"_a, "x2"_a, "p"_a = 2.0, "eps"_a = 1e-6,
               "keepdim"_a = false, "The p-norm of x1 - x2 + eps along the last dimension.");
  ops.function("pdist", &pdist, "input"_a, "p"_a = 2.0,
               "The p-norms of the differences of all pairs of rows i < j of [n, m].");
}

nb::arg_v reduction() { return nb::arg("reduction") = "mean"; }

void bind_margin_losses(OpBinder& ops) {
  ops.function(
      "hinge_embedding_loss",
      [](const Tensor& input, const Tensor& target, double margin, const std::string& reduction) {
        return hinge_embedding_loss(input, target, margin, reduction_of(reduction));
      },
      "input"_a, "target"_a, "margin"_a = 1.0, reduction(),
      "x where target is 1, max(margin - x, 0) where it is -1.");
  ops.function(
      "margin_ranking_loss",
      [](const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
         const std::string& reduction) {
        return margin_ranking_loss(input1, input2, target, margin, reduction_of(reduction));
      },
      "input1"_a, "input2"_a, "target"_a, "margin"_a = 0.0, reduction(),
      "max(-target * (input1 - input2) + margin, 0).");
  ops.function(
      "cosine_embedding_loss",
      [](const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
         const std::string& reduction) {
        return cosine_embedding_loss(input1, input2, target, margin, reduction_of(reduction));
      },
      "input1"_a, "input2"_a, "target"_a, "margin"_a = 0.0, reduction(),
      "1 - cos where target is 1, max(cos - margin, 0) where it is -1.");
  ops.function(
      "triplet_margin_loss",
      [](const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin,
         double p, double eps, bool swap, const std::string& reduction) {
        return triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap,
                                   reduction_of(reduction));
      },
      "anchor"_a, "positive"_a, "negative"_a, "margin"_a = 1.0, "p"_a = 2.0, "eps"_a = 1e-6,
      "swap"_a = false, reduction(), "max(d(anchor, positive) - d(anchor, negative) + margin, 0).");
  ops.function(
      "soft_margin_loss",
      [](const Tensor& input, const Tensor& target, const std::string& reduction) {
        return soft_margin_loss(input, target, reduction_of(reduction));
      },
      "input"_a, "target"_a, reduction(), "log(1 + exp(-target * input)).");
}

void bind_label_losses(OpBinder& ops) {
  ops.function(
      "multi_margin_loss",
      [](const Tensor& input, const Tensor& target, Scalar p, Scalar margin,
         const OptionalTensor& weight, const std::string& reduction) {
        return multi_margin_loss(input, target, p, margin, or_undefined(weight),
                                 reduction_of(reduction));
      },
      "input"_a, "target"_a, "p"_a = 1, "margin"_a = 1.0, "weight"_a = nb::none(), reduction(),
      "sum over the other classes of max(margin - input[target] + input[i], 0)^p / c.");
  ops.function(
      "multilabel_margin_loss",
      [](const Tensor& input, const Tensor& target, const std::string& reduction) {
        return multilabel_margin_loss(input, target, reduction_of(reduction));
      },
      "input"_a, "target"_a, reduction(),
      "The margin loss of several labels a row; -1 ends the labels.");
  ops.function(
      "multilabel_soft_margin_loss",
      [](const Tensor& input, const Tensor& target, const OptionalTensor& weight,
         const std::string& reduction) {
        return multilabel_soft_margin_loss(input, target, or_undefined(weight),
                                           reduction_of(reduction));
      },
      "input"_a, "target"_a, "weight"_a = nb::none(), reduction(),
      "The mean of binary_cross_entropy_with_logits over the classes.");
  ops.function(
      "poisson_nll_loss",
      [](const Tensor& input, const Tensor& target, bool log_input, bool full, double eps,
         const std::string& reduction) {
        return poisson_nll_loss(input, target, log_input, full, eps, reduction_of(reduction));
      },
      "input"_a, "target"_a, "log_input"_a = true, "full"_a = false, "eps"_a = 1e-8, reduction(),
      "exp(input) - target * input: the Poisson likelihood of a logarithm of the rate.");
}

}  // namespace

void bind_composed_ops(nb::module_& module, TensorClass& tensor) {
  OpBinder ops(module, tensor);
  bind_composed_activations(ops);
  bind_composed_layers(ops);
  bind_margin_losses(ops);
  bind_label_losses(ops);
}

}  // namespace halfgrad::python
