#include <halfgrad/nn/embedding.h>

#include <stdexcept>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/nn/init.h>

namespace halfgrad::nn {

Embedding::Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim,
                     EmbeddingOptions options)
    : Callable("Embedding", detail::text(num_embeddings, ", ", embedding_dim)),
      padding_idx_(options.padding_idx) {
  if (padding_idx_) {
    if (*padding_idx_ < -num_embeddings || *padding_idx_ >= num_embeddings) {
      throw std::invalid_argument(detail::text("Embedding: expected padding_idx within ",
                                               num_embeddings, " rows, got ", *padding_idx_));
    }
    if (*padding_idx_ < 0) *padding_idx_ += num_embeddings;
  }
  weight = register_parameter("weight", empty({num_embeddings, embedding_dim},
                                              {.dtype = options.dtype, .device = options.device}));
  reset_parameters();
}

Tensor Embedding::forward(const Tensor& indices) const {
  return embedding(weight, indices, padding_idx_);
}

void Embedding::reset_parameters() {
  init::normal_(weight);
  if (padding_idx_) weight.array().select(0, *padding_idx_).fill_(0);
}

}  // namespace halfgrad::nn
