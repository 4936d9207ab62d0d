#include <halfgrad/autograd/graph/scaled_loss.h>

#include <memory>
#include <utility>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/deferred.h>
#include <halfgrad/core/stream.h>

namespace halfgrad::detail {
namespace {

// out = loss scale, on the stream on which it was asked for.
class ScaledValue final : public Deferred {
 public:
  // `value` computes the loss, unless it is null.
  ScaledValue(std::shared_ptr<Deferred> value, Array loss, Array scale, Array out)
      : value_(std::move(value)),
        loss_(std::move(loss)),
        scale_(std::move(scale)),
        out_(std::move(out)),
        stream_(current_stream(out_.device())) {}

 private:
  void compute() override {
    const Stream reader = current_stream(out_.device());
    {
      const StreamScope scope(stream_);
      if (value_ != nullptr) value_->settle();
      mul_into(out_, loss_, scale_);
    }
    if (reader != stream_) reader.wait_stream(stream_);
    value_ = nullptr;
    loss_ = scale_ = out_ = {};
  }

  std::shared_ptr<Deferred> value_;
  Array loss_, scale_, out_;
  Stream stream_;
};

bool is_float32_scalar(const Tensor& x) { return x.dim() == 0 && x.dtype() == kFloat; }

bool takes(const Tensor& loss, const Tensor& scale) {
  return GradMode::is_enabled() && loss.requires_grad() && !scale.requires_grad() &&
         is_float32_scalar(loss) && is_float32_scalar(scale) && loss.device() == scale.device() &&
         dtype_after_cast("mul", Precision::any, loss) == kFloat;
}

}  // namespace

ScaledLossNode::ScaledLossNode(const Tensor& loss, const Tensor& scale) : Node(this->edge_store) {
  this->edge_store[0] = gradient_edge(loss);
  scale_.save_input(scale);
}

void ScaledLossNode::backward(std::span<const Tensor> grads, std::span<Tensor> grad_inputs) {
  const Tensor scale = scale_.unpack(*this);
  if (GradMode::is_enabled()) {
    grad_inputs[0] = mul(grads[0], scale);
    return;
  }
  Array dx = Array::empty({}, kFloat, scale.device());
  mul_into(dx, grads[0].array(), scale.array());
  grad_inputs[0] = Tensor(std::move(dx));
}

void ScaledLossNode::add_own_hook(const Tensor& scaled,
                                  const std::function<Tensor(const Tensor&)>& hook) {
  scaled.register_hook(hook);
  own_hook_ = hooks.back().id;
}

bool ScaledLossNode::is_unobserved() const {
  return hooks.size() == 1 && hooks[0].id == own_hook_ && retained.empty();
}

Tensor ScaledLossNode::gradient_of_one() {
  Tensor scale(scale_.array(*this));
  (*hooks[0].function)(scale);
  return scale;
}

Tensor scaled_loss(const Tensor& loss, const Tensor& scale,
                   const std::function<Tensor(const Tensor&)>& hook) {
  if (!takes(loss, scale)) return {};
  Tensor scaled(Array::empty({}, kFloat, loss.device()));
  // The version is 0 if no op has overwritten the loss.
  const Array kept =
      !loss.is_leaf() && loss._version() == 0 ? loss.grad_fn()->kept_output() : Array();
  if (kept.defined()) {
    const auto value =
        std::make_shared<ScaledValue>(loss.impl()->deferred, kept, scale.array(), scaled.array());
    scaled.impl()->deferred = value;
    remember(value);
  } else {
    mul_into(scaled.array(), loss.array(), scale.array());
  }
  auto node = std::make_shared<ScaledLossNode>(loss, scale);
  ScaledLossNode& recorded = *node;
  set_history(scaled, std::move(node));
  recorded.add_own_hook(scaled, hook);
  return scaled;
}

}  // namespace halfgrad::detail
