#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/mlp.h>
#include <halfgrad/autograd/op_table/product_reference.h>
#include <halfgrad/autograd/op_table/row_references.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/class_targets.h>
#include <halfgrad/autograd/ops/shared/mlp_gradients.h>
#include <halfgrad/autograd/ops/shared/mlp_operands.h>
#include <halfgrad/autograd/ops/shared/mlp_tiles.h>
#include <halfgrad/core/deferred.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/running_op.h>
#include <halfgrad/core/scoped_value.h>
#include <halfgrad/core/stream.h>

namespace halfgrad {
namespace detail {
namespace {

constexpr const char* kLossName = "mlp_cross_entropy";

// Computes the loss by the two ops, one after the other. No target has their ignore_index.
Tensor composed_loss(const MlpTensors& operands, const Tensor& target,
                     std::optional<DType> logits = std::nullopt) {
  const std::span<const Tensor> weights = operands.all.subspan(1, operands.layers());
  const std::span<const Tensor> biases = operands.all.subspan(1 + operands.layers());
  const Tensor y = mlp(operands.input(), {weights.begin(), weights.end()},
                       {biases.begin(), biases.end()}, name_of(operands.activation))
                       .reshape({target.numel(), operands.weight(operands.layers() - 1).size(0)});
  return cross_entropy(to(y, logits.value_or(y.dtype())), target.reshape({target.numel()}),
                       {.ignore_index = std::numeric_limits<std::int64_t>::min()});
}

void compute_loss(const MlpArrays& mlp, const MlpLoss& loss) {
  mlp.x.device().is_cuda() ? mlp_loss_on_cuda(mlp, loss) : mlp_loss_on_cpu(mlp, loss);
}

// The loss, which backward() computes with the gradients. If the program reads it before, compute()
// computes it on the stream that was current at the call of the op.
class LossValue final : public Deferred {
 public:
  LossValue(MlpArrays mlp, MlpLoss loss)
      : mlp_(std::move(mlp)),
        loss_(std::move(loss)),
        kept_(loss_.kept),
        stream_(current_stream(mlp_.x.device())) {
    const auto add = [&](const Array& operand) {
      if (operand.defined()) operands_.push_back({operand.storage().get(), version_of(operand)});
    };
    add(mlp_.x);
    std::for_each(mlp_.weights.begin(), mlp_.weights.end(), add);
    std::for_each(mlp_.biases.begin(), mlp_.biases.end(), add);
    add(loss_.targets);
  }

  // Computes the gradients, and the loss unless it is known.
  MlpGradients gradients(const MlpArrays& mlp, const Array& targets, const Array& dloss,
                         bool with_dx) {
    MlpGradients result;
    const bool computed = settle_by([&] {
      result = mlp_loss_gradients(mlp, loss_, dloss, with_dx);
      const Stream stream = current_stream(mlp.x.device());
      if (stream != stream_) stream_.wait_stream(stream);
      release();
    });
    if (!computed) result = mlp_loss_gradients(mlp, {.targets = targets}, dloss, with_dx);
    return result;
  }
  const Array& kept() const { return kept_; }
  bool reads(const Storage& elements) const override {
    return std::any_of(operands_.begin(), operands_.end(),
                       [&](const Operand& operand) { return operand.storage == &elements; });
  }

 private:
  struct Operand {
    const Storage* storage;  // exists until the loss is computed
    std::uint32_t version;
  };

  static std::uint32_t version_of(const Array& operand) { return operand.storage()->version(); }

  void compute() override {
    expect_unchanged();
    const Stream reader = current_stream(mlp_.x.device());
    {
      const StreamScope scope(stream_);
      compute_loss(mlp_, loss_);
    }
    if (reader != stream_) reader.wait_stream(stream_);
    release();
  }

  void expect_unchanged() const {
    for (const auto& [storage, version] : operands_) {
      if (storage->version() == version) continue;
      fail<std::runtime_error>(kLossName,
                               "expected operands that are unchanged until the loss is computed, "
                               "got one that was changed in place; look at the loss, or call "
                               "backward(), before the change");
    }
  }

  void release() {
    mlp_ = {};
    loss_ = {};
  }

  MlpArrays mlp_;
  MlpLoss loss_;
  const Array kept_;
  Stream stream_;
  std::vector<Operand> operands_;
};

class MlpLossNode final : public MlpNodeBase {
 public:
  // `targets`: as the kernels want them.
  MlpLossNode(const MlpTensors& operands, const Tensor& target, Array targets,
              std::shared_ptr<LossValue> value)
      : MlpNodeBase(operands), targets_(std::move(targets)), value_(std::move(value)) {
    target_.save_input(target);
  }

  const char* name() const override { return kLossName; }
  bool only_reads_gradient() const override { return true; }
  Array kept_output() const override { return value_->kept(); }
  void release_saved() override {
    MlpNodeBase::release_saved();
    target_.reset();
    targets_ = {};
  }

  void backward(std::span<const Tensor> grads, std::span<Tensor> grad_inputs) override {
    const std::vector<Tensor> all = unpack();
    const Tensor target = target_.unpack(*this);
    const MlpTensors operands{all, activation()};
    if (GradMode::is_enabled()) {
      return differentiable_backward(operands, target, grads[0], grad_inputs);
    }
    const bool with_dx = edges()[0].defined();
    const MlpGradients gradients =
        value_->gradients(mlp_arrays(operands), targets_, grads[0].array(), with_dx);
    set_gradients(operands, gradients, grad_inputs);
  }

 private:
  // A backward pass through the two ops, whose gradients are differentiable.
  void differentiable_backward(const MlpTensors& operands, const Tensor& target,
                               const Tensor& dloss, std::span<Tensor> grad_inputs) {
    std::vector<Tensor> all(operands.all.begin(), operands.all.end());
    all[0] = to(all[0], operands.dtype());
    std::vector<Tensor> inputs;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!edges()[i].defined()) continue;
      places.push_back(i);
      inputs.push_back(all[i]);
    }
    const Tensor loss = composed_loss({all, activation()}, target, dloss.dtype());
    const std::vector<Tensor> gradients =
        autograd::grad({loss}, inputs, {dloss}, {.create_graph = true});
    for (std::size_t i = 0; i < places.size(); ++i) grad_inputs[places[i]] = gradients[i];
  }

  SavedTensor target_;
  Array targets_;
  std::shared_ptr<LossValue> value_;
};

void expect_targets(const Tensor& input, const Tensor& target) {
  if (target.dtype() != kLong) {
    fail(kLossName, "expected int64 class indices, got {}", target.dtype());
  }
  if (target.device() != input.device()) {
    fail(kLossName, "expected operands on one device, got {} and {}; .to(device) moves a tensor",
         input.device(), target.device());
  }
  const Shape& sizes = input.sizes();
  Shape rows;
  for (int d = 0; d + 1 < sizes.size(); ++d) rows.push_back(sizes[d]);
  if (target.sizes() != rows) {
    fail(kLossName, "expected class indices of shape {}, got {}", rows, target.sizes());
  }
}

// The dtype to which cross_entropy would widen the logits. Nothing if the casts must be ops.
std::optional<DType> dtype_of_mlp_loss(const MlpTensors& operands) {
  const auto dtype = dtype_after_cast("cross_entropy", Precision::wide_range, operands.weight(0));
  const bool widens = dtype == kFloat && is_reduced(operands.dtype());
  return widens || dtype == operands.dtype() ? dtype : std::nullopt;
}

bool fits(const MlpArrays& mlp) {
  return mlp_fits(mlp) && (mlp.x.device().is_cpu() || mlp_loss_fits_cuda(mlp));
}

Tensor fused_loss(const MlpTensors& operands, const Tensor& target, MlpArrays mlp, DType dtype) {
  Array targets = target.array().reshape({target.numel()}).contiguous();
  const Device device = mlp.x.device();
  const auto number = [&] { return Array::empty({}, dtype, device); };
  if (device.is_cpu()) {
    const std::int64_t classes = mlp.weights.back().size(0);
    const Array logits =
        Array::empty({1, 1}, mlp.dtype(), device).expand({targets.numel(), classes});
    targets = ClassTargets(kLossName, logits, targets, Array(), std::nullopt).encoded;
  }
  MlpLoss loss{.targets = targets, .loss = number(), .kept = dtype == kFloat ? number() : Array()};
  Tensor result(loss.loss);
  if (!GradMode::is_enabled() || !any_requires_grad(operands.all)) {
    compute_loss(mlp, loss);
    return result;
  }
  const auto value = std::make_shared<LossValue>(std::move(mlp), std::move(loss));
  result.impl()->deferred = value;
  remember(value);
  set_history(result, std::make_shared<MlpLossNode>(operands, target, targets, value));
  return result;
}

}  // namespace
}  // namespace detail

Tensor mlp_cross_entropy(const Tensor& input, const std::vector<Tensor>& weights,
                         const std::vector<Tensor>& biases, const Tensor& target,
                         const std::string& activation) {
  using namespace detail;
  const MlpActivation f = mlp_activation(kLossName, activation);
  const std::vector<Tensor> given = listed_mlp(kLossName, input, weights, biases);
  expect_targets(input, target);
  if (op_observer != nullptr) return composed_loss({given, f}, target);
  const ScopedValue<const char*> running(running_op, kLossName);
  std::vector<Tensor> operands = given;
  prepare_mlp(kLossName, operands);
  const MlpTensors cast{operands, f};
  const std::optional<DType> dtype = dtype_of_mlp_loss(cast);
  if (MlpArrays arrays = mlp_arrays(cast); dtype && fits(arrays)) {
    return fused_loss(cast, target, std::move(arrays), *dtype);
  }
  return composed_loss({given, f}, target);
}

namespace detail {
namespace {

// The mean of log(sum_j exp(y_rj)) - y_rt, for y = mlp(operands but the last) and classes t. A
// kernel may store the logits y and the losses in the dtype of the output.
Elements mlp_loss_reference(const AnyArithmetic& a, const std::vector<Values>& in) {
  const std::vector<double>& classes = in.back().data;
  const Elements y = mlp_reference(a, {in.begin(), in.end() - 1});
  const std::size_t columns = classes.empty() ? 0 : y.size() / classes.size();
  Elements losses;
  for (std::size_t row = 0; row < classes.size(); ++row) {
    Elements logits;
    for (std::size_t j = 0; j < columns; ++j) logits.push_back(a.stored(y[row * columns + j]));
    const Elements scores = log_softmax_of(a, logits);
    losses.push_back(a.stored(a.neg(scores[static_cast<std::size_t>(classes[row])])));
  }
  return {mean_of(a, losses)};
}

}  // namespace

OpEntry mlp_cross_entropy_entry() {
  const auto operand = [](const Shape& sizes) {
    return OperandSpec{.sizes = sizes, .low = -1, .high = 1};
  };
  const auto run = [](const std::vector<Tensor>& in) {
    return mlp_cross_entropy(in[0], {in[1], in[2], in[3]}, {in[4], in[5], in[6]}, in[7]);
  };
  OpExample example{"three layers",
                    {operand({6, 5}),
                     operand({7, 5}),
                     operand({4, 7}),
                     operand({3, 4}),
                     operand({7}),
                     operand({4}),
                     operand({3}),
                     {{6}, 0, 2, OperandSpec::Kind::index, false}},
                    run,
                    in_double({}, mlp_loss_reference)};
  return {.name = kLossName,
          .precision = Precision::tensor_core,
          .roundoffs = 16,
          .examples = {std::move(example)},
          .bounded_reference = mlp_loss_reference};
}

}  // namespace detail
}  // namespace halfgrad
