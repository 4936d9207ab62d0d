#pragma once

#include <cstdint>
#include <optional>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/nn/module.h>

namespace halfgrad::nn {

struct EmbeddingOptions {
  std::optional<std::int64_t> padding_idx = std::nullopt;  ///< row of zeros that is not trained
  DType dtype = kFloat32;
  Device device = get_default_device();
};

/// A table of vectors: looks up int64 indices of shape `[...]`, returns `[..., embedding_dim]`.
class Embedding : public Callable<Embedding> {
 public:
  /// A negative padding_idx counts from the end. Throws std::invalid_argument if it is out of
  /// range.
  Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, EmbeddingOptions options = {});
  /// Looks up rows of `weight`, `[num_embeddings, embedding_dim]`, trained if it requires a
  /// gradient: a pretrained table, or the weight of another layer. Throws std::invalid_argument for
  /// another number of dimensions, and as above.
  explicit Embedding(Tensor weight, std::optional<std::int64_t> padding_idx = std::nullopt);

  Tensor forward(const Tensor& indices) const;
  /// Draws the weight from the standard normal distribution and sets the padding row to zero.
  void reset_parameters();

  Tensor weight;  ///< [num_embeddings, embedding_dim]

 private:
  std::optional<std::int64_t> padding_idx_;
};

}  // namespace halfgrad::nn
