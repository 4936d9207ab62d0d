#include <halfgrad/nn/embedding.h>

#include <halfgrad/autograd/creation.h>
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
  const std::string sizes = detail::text(rows, ", ", columns);
  const auto padding = padding_row(options, rows);
  return padding ? detail::text(sizes, ", padding_idx=", *padding) : sizes;
}

std::string described(const Tensor& weight, const EmbeddingArguments& options) {
  if (!weight.defined() || weight.dim() != 2) {
    halfgrad::detail::fail("Embedding", "expected weight [num_embeddings, embedding_dim], got {}",
                           weight.defined() ? to_string(weight.sizes()) : "none");
  }
  return described(weight.size(0), weight.size(1), options);
}

void draw_embedding(const Tensor& weight, std::optional<std::int64_t> padding) {
  init::normal_(weight);
  if (padding) weight.array().select(0, *padding).fill_(0);
}

}  // namespace

Embedding::Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim,
                     EmbeddingArguments arguments)
    : Callable("Embedding", described(num_embeddings, embedding_dim, arguments)),
      options(num_embeddings, embedding_dim, padding_row(arguments, num_embeddings)) {
  weight =
      register_parameter("weight", empty({num_embeddings, embedding_dim},
                                         {.dtype = arguments.dtype, .device = arguments.device}));
  initialise(
      [weight = weight, padding = options.padding_idx()] { draw_embedding(weight, padding); });
}

Embedding::Embedding(Tensor with_weight, std::optional<std::int64_t> padding_idx)
    : Callable("Embedding", described(with_weight, {padding_idx})),
      options(with_weight.size(0), with_weight.size(1),
              padding_row({padding_idx}, with_weight.size(0))) {
  weight = register_parameter("weight", with_weight, with_weight.requires_grad());
}

Embedding Embedding::from_pretrained(const Tensor& embeddings,
                                     EmbeddingFromPretrainedArguments options) {
  const Tensor weight = embeddings.defined() ? embeddings.detach() : embeddings;
  if (!options.freeze && weight.defined()) weight.requires_grad_();
  return Embedding(weight, options.padding_idx);
}

Tensor Embedding::forward(const Tensor& indices) const {
  return embedding(weight, indices, options.padding_idx());
}

void Embedding::reset_parameters() { draw_embedding(weight, options.padding_idx()); }

}  // namespace halfgrad::nn
