#include <halfgrad/nn/embedding.h>

#include <halfgrad/autograd/composed/counting.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/function.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/indexing.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/nn/init.h>

namespace halfgrad::nn {

namespace {

std::optional<std::int64_t> padding_row(const EmbeddingArguments& options, std::int64_t rows) {
  if (!options.padding_idx) return std::nullopt;
  const std::int64_t index = *options.padding_idx;
  if (index < -rows || index >= rows) {
    halfgrad::detail::fail("Embedding", "expected padding_idx in [{}, {}), got {}", -rows, rows,
                           index);
  }
  return index < 0 ? index + rows : index;
}

std::string described(std::int64_t rows, std::int64_t columns, const EmbeddingArguments& options) {
  std::string text = detail::text(rows, ", ", columns);
  if (const auto padding = padding_row(options, rows)) {
    text += detail::text(", padding_idx=", *padding);
  }
  if (options.max_norm) text += detail::text(", max_norm=", *options.max_norm);
  if (options.norm_type != 2) text += detail::text(", norm_type=", options.norm_type);
  if (options.scale_grad_by_freq) text += ", scale_grad_by_freq=true";
  return text;
}

std::string described(const Tensor& weight, const EmbeddingArguments& options) {
  if (!weight.defined() || weight.dim() != 2) {
    halfgrad::detail::fail("Embedding", "expected weight [num_embeddings, embedding_dim], got {}",
                           weight.defined() ? to_string(weight.sizes()) : "none");
  }
  return described(weight.size(0), weight.size(1), options);
}

// row <- row max_norm / (|row| + 10^-7), as in PyTorch, for rows whose norm is larger
void limit_rows(const Tensor& weight, const Tensor& indices, const EmbeddingRows& rows) {
  const NoGradGuard no_grad;
  const Tensor used = std::get<0>(_unique2(indices));
  const Tensor found = index_select(weight, 0, used);
  const Tensor norms = norm(found, rows.norm_type, 1, true);
  const Tensor limited = found * (*rows.max_norm / (norms + 1e-7));
  Tensor(weight).index_put_({used},
                            where(norms > *rows.max_norm, limited, found).to(weight.dtype()));
}

// Returns x [..., n, d], whose gradient is divided by the count of each of the n indices.
struct DividedByCounts : autograd::Function<DividedByCounts> {
  static Tensor forward(autograd::AutogradContext* context, const Tensor& x,
                        const Tensor& indices) {
    const Tensor counts = bincount(flatten(indices));
    context->save_for_backward(
        {reshape(index_select(counts, 0, flatten(indices)), indices.sizes())});
    return x.clone();
  }
  static autograd::variable_list backward(autograd::AutogradContext* context,
                                          const autograd::variable_list& dy) {
    const Tensor counts = context->get_saved_variables()[0];
    return {dy[0] / unsqueeze(counts, -1).to(dy[0].dtype()), Tensor()};
  }
};

EmbeddingRows rows_of(const EmbeddingArguments& arguments) {
  return {arguments.max_norm, arguments.norm_type, arguments.scale_grad_by_freq};
}

void draw_embedding(const Tensor& weight, std::optional<std::int64_t> padding) {
  init::normal_(weight);
  if (padding) weight.array().select(0, *padding).fill_(0);
}

}  // namespace

Tensor embedding_with(const Tensor& weight, const Tensor& indices,
                      std::optional<std::int64_t> padding_idx, const EmbeddingRows& rows) {
  if (rows.max_norm && indices.numel() > 0) limit_rows(weight, indices, rows);
  const Tensor found = embedding(weight, indices, padding_idx);
  const bool is_scaled = rows.scale_grad_by_freq && indices.numel() > 0;
  return is_scaled ? DividedByCounts::apply(found, indices) : found;
}

Embedding::Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim,
                     EmbeddingArguments arguments)
    : Callable("Embedding", described(num_embeddings, embedding_dim, arguments)),
      options(num_embeddings, embedding_dim, padding_row(arguments, num_embeddings),
              rows_of(arguments)) {
  weight =
      register_parameter("weight", empty({num_embeddings, embedding_dim},
                                         {.dtype = arguments.dtype, .device = arguments.device}));
  initialise(
      [weight = weight, padding = options.padding_idx()] { draw_embedding(weight, padding); });
}

Embedding::Embedding(Tensor with_weight, std::optional<std::int64_t> padding_idx,
                     const EmbeddingRows& rows)
    : Callable("Embedding",
               described(with_weight, {.padding_idx = padding_idx,
                                       .max_norm = rows.max_norm,
                                       .norm_type = rows.norm_type,
                                       .scale_grad_by_freq = rows.scale_grad_by_freq})),
      options(with_weight.size(0), with_weight.size(1),
              padding_row({padding_idx}, with_weight.size(0)), rows) {
  weight = register_parameter("weight", with_weight, with_weight.requires_grad());
}

Embedding Embedding::from_pretrained(const Tensor& embeddings,
                                     EmbeddingFromPretrainedArguments options) {
  const Tensor weight = embeddings.defined() ? embeddings.detach() : embeddings;
  if (!options.freeze && weight.defined()) weight.requires_grad_();
  return Embedding(weight, options.padding_idx,
                   {options.max_norm, options.norm_type, options.scale_grad_by_freq});
}

Tensor Embedding::forward(const Tensor& indices) const {
  return embedding_with(weight, indices, options.padding_idx(), options.rows());
}

void Embedding::reset_parameters() { draw_embedding(weight, options.padding_idx()); }

}  // namespace halfgrad::nn
