#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/plain_names.h>
#include <halfgrad/nn/layer_config.h>
#include <halfgrad/nn/module.h>

namespace halfgrad::nn {

struct EmbeddingArguments {
  std::optional<std::int64_t> padding_idx = std::nullopt;  ///< row of zeros that is not trained
  DType dtype = get_default_dtype();
  Device device = get_default_device();
  /// Limits the p-norm of rows, where p is `norm_type`: a look-up first scales the rows that it
  /// reads down to this norm, in place, if theirs is larger.
  std::optional<double> max_norm = std::nullopt;
  double norm_type = 2;
  /// Divides the gradient of a row by the number of its look-ups in the batch.
  bool scale_grad_by_freq = false;
};
HALFGRAD_PLAIN_NAME(EmbeddingOptions, EmbeddingArguments)

struct EmbeddingFromPretrainedArguments {
  bool freeze = true;                                      ///< does not train the table
  std::optional<std::int64_t> padding_idx = std::nullopt;  ///< row that is not trained
  std::optional<double> max_norm = std::nullopt;           ///< as above
  double norm_type = 2;
  bool scale_grad_by_freq = false;
};
HALFGRAD_PLAIN_NAME(EmbeddingFromPretrainedOptions, EmbeddingFromPretrainedArguments)

/// embedding() with the rare options of the layer.
Tensor embedding_with(const Tensor& weight, const Tensor& indices,
                      std::optional<std::int64_t> padding_idx, const EmbeddingRows& rows);

/// A table of vectors: looks up int64 indices of shape `[...]`, returns `[..., embedding_dim]`.
class Embedding : public Callable<Embedding> {
 public:
  template <std::same_as<std::nullptr_t> T>
  Embedding(T empty) : Callable(empty) {}
  /// A negative padding_idx counts from the end. Throws std::invalid_argument if it is out of
  /// range.
  Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim,
            EmbeddingArguments arguments = {});
  /// Looks up rows of `weight`, `[num_embeddings, embedding_dim]`, trained if it requires a
  /// gradient: a pretrained table, or the weight of another layer. Throws std::invalid_argument for
  /// another number of dimensions, and as above.
  explicit Embedding(Tensor weight, std::optional<std::int64_t> padding_idx = std::nullopt,
                     const EmbeddingRows& rows = {});

  /// Looks up rows of `embeddings`, `[num_embeddings, embedding_dim]`, whose memory it shares.
  /// Throws std::invalid_argument as above.
  static Embedding from_pretrained(const Tensor& embeddings,
                                   EmbeddingFromPretrainedArguments options = {});

  Tensor forward(const Tensor& indices) const;
  /// Draws the weight from the standard normal distribution and sets the padding row to zero.
  void reset_parameters();
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    return clone_with(device, &Embedding::weight);
  }

  EmbeddingConfig options;
  Tensor weight;  ///< [num_embeddings, embedding_dim]
};

}  // namespace halfgrad::nn
