#pragma once

#include <span>
#include <string>
#include <vector>

#include <halfgrad/autograd/graph/node.h>
#include <halfgrad/core/cuda/kernels/mlp.h>

/// The operands of mlp and mlp_cross_entropy.
namespace halfgrad::detail {

/// The operands in one list, as the graph sees them: the input, all weights, all biases. And the
/// activation between the layers.
struct MlpTensors {
  std::span<const Tensor> all;
  MlpActivation activation;

  std::size_t layers() const { return all.size() / 2; }
  const Tensor& input() const { return all[0]; }
  const Tensor& weight(std::size_t l) const { return all[1 + l]; }
  const Tensor& bias(std::size_t l) const { return all[1 + layers() + l]; }
  /// The dtype of the layers. A float32 input may stay beside 16-bit weights: the kernels round it.
  DType dtype() const { return weight(0).dtype(); }
};

/// Returns the activation of that name. Throws std::invalid_argument if there is none.
MlpActivation mlp_activation(const char* op, const std::string& name);
const char* name_of(MlpActivation activation);

/// Returns the list. Throws std::invalid_argument without weights, or for a wrong number of biases.
std::vector<Tensor> listed_mlp(const char* op, const Tensor& input,
                               const std::vector<Tensor>& weights,
                               const std::vector<Tensor>& biases);

/// Moves and casts the operands as every op does, but leaves a float32 input as it is if the cast
/// rule would round it to 16 bits: no pass over the batch. Throws std::invalid_argument if dtypes
/// or shapes do not fit.
void prepare_mlp(const char* op, std::span<Tensor> operands);

/// The operands as contiguous matrices.
MlpArrays mlp_arrays(const MlpTensors& operands);

bool mlp_fits(const MlpArrays& mlp);

/// The layers one by one, each an op of its own.
Tensor composed_mlp(const MlpTensors& operands);

/// Base of the nodes: their edges, the activation, and what they save.
class MlpNodeBase : public Node {
 public:
  explicit MlpNodeBase(const MlpTensors& operands);

  void release_saved() override;

 protected:
  std::vector<Tensor> unpack();
  MlpActivation activation() const { return activation_; }
  /// Gives the gradients to the operands that need them.
  void set_gradients(const MlpTensors& operands, const MlpGradients& gradients,
                     std::span<Tensor> grad_inputs);

 private:
  MlpNodeBase(const MlpTensors& operands, std::vector<Edge> edges);

  std::vector<Edge> edge_store_;
  std::vector<SavedTensor> saved_;
  MlpActivation activation_;
};

}  // namespace halfgrad::detail
