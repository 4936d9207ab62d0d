#pragma once

#include <halfgrad/compat/names.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <halfgrad/autograd/compat/tensor_options.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/ops.h>

/// libtorch's rarer functions, composed of halfgrad's ops. Names, defaults and formulas are
/// libtorch's. Autocast treats a function that libtorch's lists name, such as prelu, bilinear and
/// the losses, as one op of that list; the others run under the cast rules of the ops that they
/// call.
namespace halfgrad {

// --- Activations, of each element ---
Tensor selu(const Tensor& self);  ///< scale * elu(x, 1.6733)
Tensor celu(const Tensor& self,
            double alpha = 1);  ///< max(0, x) + min(0, alpha (exp(x/alpha) - 1))
Tensor hardtanh(const Tensor& self, double min_val = -1, double max_val = 1);
Tensor relu6(const Tensor& self);
Tensor hardshrink(const Tensor& self, double lambd = 0.5);  ///< x where |x| > lambd, else 0
Tensor hardsigmoid(const Tensor& self);                     ///< relu6(x + 3) / 6
Tensor hardswish(const Tensor& self);                       ///< x * hardsigmoid(x)
Tensor tanhshrink(const Tensor& self);                      ///< x - tanh(x)
Tensor softsign(const Tensor& self);                        ///< x / (1 + |x|)
Tensor log_sigmoid(const Tensor& self);
Tensor mish(const Tensor& self);                                       ///< x * tanh(softplus(x))
Tensor threshold(const Tensor& self, double threshold, double value);  ///< x where x > threshold
/// x where x > 0, else weight * x; one weight, or one for each channel (dimension 1).
Tensor prelu(const Tensor& self, const Tensor& weight);
/// leaky_relu with a slope drawn for each element from [lower, upper) in training, else with the
/// mean of the two.
Tensor rrelu(const Tensor& self, double lower = 1.0 / 8, double upper = 1.0 / 3,
             bool training = false);
/// a * sigmoid(b), where a and b are the halves of self along `dim`.
Tensor glu(const Tensor& self, std::int64_t dim = -1);

// --- Distances ---
Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, std::int64_t dim = 1,
                         double eps = 1e-8);
/// The p-norm of x1 - x2 + eps along the last dimension.
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p = 2, double eps = 1e-6,
                         bool keepdim = false);
/// The p-norms of the differences of all pairs of rows i < j of [n, m]: [n (n - 1) / 2].
Tensor pdist(const Tensor& self, double p = 2);

// --- Layers ---
/// Rows of `weight`; a negative padding_idx means none. Throws std::invalid_argument for sparse
/// gradients, which halfgrad lacks.
Tensor embedding(const Tensor& weight, const Tensor& indices, std::int64_t padding_idx,
                 bool scale_grad_by_freq, bool sparse = false);
/// x1 [..., n] and x2 [..., m] with weight [out, n, m]: y_o = x1^T weight_o x2 + bias_o.
Tensor bilinear(const Tensor& x1, const Tensor& x2, const Tensor& weight, const Tensor& bias = {});
/// Keeps mean 0 and variance 1 of its input (Klambauer et al., 2017).
Tensor alpha_dropout(const Tensor& input, double p, bool train);
/// alpha_dropout of whole channels: [n, c] of [n, c, ...].
Tensor feature_alpha_dropout(const Tensor& input, double p, bool train);
/// dropout of whole channels.
Tensor feature_dropout(const Tensor& input, double p, bool train);

// --- Memory and results that the caller provides ---
/// A tensor in memory that the caller owns and keeps alive, row-major or with these strides.
Tensor from_blob(void* data, const Shape& sizes, const TensorOptions& options = {});
Tensor from_blob(void* data, const Shape& sizes, const Shape& strides,
                 const TensorOptions& options = {});
/// Memory that deleter(data) frees with the last tensor that sees it.
using Deleter = std::function<void(void*)>;
Tensor from_blob(void* data, const Shape& sizes, const Deleter& deleter,
                 const TensorOptions& options = {});
Tensor from_blob(void* data, const Shape& sizes, const Shape& strides, const Deleter& deleter,
                 const TensorOptions& options = {});
/// Write their result into `out`, which takes its shape. Throw std::invalid_argument for another
/// dtype or device, and if a gradient would be recorded.
Tensor& add_out(Tensor& out, const Tensor& self, const Tensor& other, Scalar alpha = 1);
Tensor& sub_out(Tensor& out, const Tensor& self, const Tensor& other, Scalar alpha = 1);
Tensor& mul_out(Tensor& out, const Tensor& self, const Tensor& other);
Tensor& div_out(Tensor& out, const Tensor& self, const Tensor& other);
Tensor& mm_out(Tensor& out, const Tensor& self, const Tensor& mat2);
Tensor& matmul_out(Tensor& out, const Tensor& self, const Tensor& other);
Tensor& linear_out(Tensor& out, const Tensor& input, const Tensor& weight, const Tensor& bias = {});
Tensor& cat_out(Tensor& out, const std::vector<Tensor>& tensors, std::int64_t dim = 0);

// --- Losses; shapes and formulas as in torch.nn ---
Tensor hinge_embedding_loss(const Tensor& self, const Tensor& target, double margin = 1,
                            Reduction reduction = kMean);
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           double margin = 0, Reduction reduction = kMean);
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             double margin = 0, Reduction reduction = kMean);
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           double margin = 1, double p = 2, double eps = 1e-6, bool swap = false,
                           Reduction reduction = kMean);
Tensor soft_margin_loss(const Tensor& self, const Tensor& target, Reduction reduction = kMean);
Tensor multi_margin_loss(const Tensor& self, const Tensor& target, Scalar p = 1, Scalar margin = 1,
                         const Tensor& weight = {}, Reduction reduction = kMean);
Tensor multilabel_margin_loss(const Tensor& self, const Tensor& target,
                              Reduction reduction = kMean);
Tensor multilabel_soft_margin_loss(const Tensor& self, const Tensor& target,
                                   const Tensor& weight = {}, Reduction reduction = kMean);
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full,
                        double eps, Reduction reduction);

namespace autograd {

using halfgrad::AutoGradMode;
using halfgrad::InferenceMode;

/// A new leaf with the elements of `data`.
inline Tensor make_variable(const Tensor& data, bool requires_grad = false) {
  return data.detach().requires_grad_(requires_grad);
}

}  // namespace autograd

namespace detail {

/// The mean, the sum, or the losses themselves.
Tensor reduced(const Tensor& losses, Reduction reduction);

}  // namespace detail
}  // namespace halfgrad
