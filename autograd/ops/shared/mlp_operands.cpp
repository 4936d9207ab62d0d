#include <halfgrad/autograd/ops/shared/mlp_operands.h>

#include <algorithm>
#include <optional>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/linear_activation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/mlp_tiles.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::detail {

const char* name_of(MlpActivation activation) {
  constexpr const char* kNames[] = {"relu", "gelu", "gelu_tanh"};
  return kNames[static_cast<int>(activation)];
}

MlpActivation mlp_activation(const char* op, const std::string& name) {
  for (const auto each : {MlpActivation::relu, MlpActivation::gelu, MlpActivation::gelu_tanh}) {
    if (name == name_of(each)) return each;
  }
  fail(op, "expected activation to be 'relu', 'gelu' or 'gelu_tanh', got '{}'", name);
}

std::vector<Tensor> listed_mlp(const char* op, const Tensor& input,
                               const std::vector<Tensor>& weights,
                               const std::vector<Tensor>& biases) {
  if (weights.empty()) fail(op, "expected at least one weight, got none");
  if (!biases.empty() && biases.size() != weights.size()) {
    fail(op,
         "expected no biases or one for each of {} weights, got {}; an undefined tensor "
         "leaves one out",
         weights.size(), biases.size());
  }
  std::vector<Tensor> all{input};
  all.insert(all.end(), weights.begin(), weights.end());
  all.insert(all.end(), biases.begin(), biases.end());
  all.resize(1 + 2 * weights.size());
  return all;
}

namespace {

void expect_layers(const char* op, std::span<const Tensor> all, DType dtype) {
  const MlpTensors operands{all, MlpActivation::relu};
  if (!is_floating_point(dtype)) {
    fail(op, "expected floating-point operands, got {}", dtype);
  }
  if (operands.input().dim() == 0) {
    fail(op, "expected an input [..., in], got {}", operands.input().sizes());
  }
  std::int64_t features = operands.input().size(-1);
  for (std::size_t l = 0; l < operands.layers(); ++l) {
    const Tensor& weight = operands.weight(l);
    const Tensor& bias = operands.bias(l);
    if (weight.dim() != 2 || weight.size(1) != features) {
      fail(op, "expected weight {} of shape [out, {}], got {}", l, features, weight.sizes());
    }
    features = weight.size(0);
    if (bias.defined() && bias.sizes() != Shape{features}) {
      fail(op, "expected bias {} of shape [{}], got {}", l, features, bias.sizes());
    }
    if (weight.dtype() != dtype || (bias.defined() && bias.dtype() != dtype)) {
      fail(op, "expected operands of one dtype, got {} for the input and another in layer {}",
           dtype, l);
    }
  }
}

}  // namespace

void prepare_mlp(const char* op, std::span<Tensor> operands) {
  constexpr auto kPrecision = Precision::tensor_core;
  use_one_device(op, operands);
  const Tensor& input = operands[0];
  const std::optional<DType> dtype = dtype_after_cast(op, kPrecision, input);
  const bool kernel_rounds =
      dtype && is_reduced(*dtype) && input.dtype() == kFloat && !input.is_inference();
  cast_operands(op, kPrecision, operands.subspan(kernel_rounds ? 1 : 0));
  expect_layers(op, operands, kernel_rounds ? *dtype : input.dtype());
}

MlpArrays mlp_arrays(const MlpTensors& operands) {
  const Array& x = operands.input().array();
  MlpArrays mlp{
      .x = x.reshape({x.numel() / std::max<std::int64_t>(x.size(-1), 1), x.size(-1)}).contiguous(),
      .weights = {},
      .biases = {},
      .activation = operands.activation};
  for (std::size_t l = 0; l < operands.layers(); ++l) {
    mlp.weights.push_back(operands.weight(l).array().contiguous());
    const Tensor& bias = operands.bias(l);
    mlp.biases.push_back(bias.defined() ? bias.array().contiguous() : Array());
  }
  return mlp;
}

bool mlp_fits(const MlpArrays& mlp) {
  return mlp.x.device().is_cuda() ? mlp_fits_cuda(mlp) : mlp_fits_cpu(mlp);
}

Tensor composed_mlp(const MlpTensors& operands) {
  const bool is_relu = operands.activation == MlpActivation::relu;
  const char* const approximate = operands.activation == MlpActivation::gelu ? "none" : "tanh";
  Tensor h = operands.input();
  for (std::size_t l = 0; l < operands.layers(); ++l) {
    const bool last = l + 1 == operands.layers();
    h = (is_relu && !last ? linear_relu : linear)(h, operands.weight(l), operands.bias(l));
    if (!is_relu && !last) h = gelu(h, approximate);  // linear_gelu would not round its argument
  }
  return h;
}

namespace {

std::vector<Edge> edges_of_mlp(const MlpTensors& operands) {
  std::vector<Edge> edges;
  for (const Tensor& each : operands.all) {
    edges.push_back(each.defined() ? gradient_edge(each) : Edge());
  }
  return edges;
}

}  // namespace

MlpNodeBase::MlpNodeBase(const MlpTensors& operands)
    : MlpNodeBase(operands, edges_of_mlp(operands)) {}

MlpNodeBase::MlpNodeBase(const MlpTensors& operands, std::vector<Edge> edges)
    : Node(edges),
      edge_store_(std::move(edges)),
      saved_(operands.all.size()),
      activation_(operands.activation) {
  for (std::size_t i = 0; i < saved_.size(); ++i) saved_[i].save_input(operands.all[i]);
}

void MlpNodeBase::release_saved() {
  for (SavedTensor& each : saved_) each.reset();
}

std::vector<Tensor> MlpNodeBase::unpack() {
  std::vector<Tensor> all;
  for (const SavedTensor& each : saved_) all.push_back(each.unpack(*this));
  return all;
}

void MlpNodeBase::set_gradients(const MlpTensors& operands, const MlpGradients& gradients,
                                std::span<Tensor> grad_inputs) {
  const auto set = [&](std::size_t i, const Array& gradient) {
    if (edges()[i].defined()) grad_inputs[i] = Tensor(gradient);
  };
  if (edges()[0].defined()) set(0, gradients.dx.reshape(operands.input().sizes()));
  for (std::size_t l = 0; l < operands.layers(); ++l) {
    set(1 + l, gradients.weights[l]);
    set(1 + operands.layers() + l, gradients.biases[l]);
  }
}

}  // namespace halfgrad::detail
