#include <halfgrad/autograd/graph/shadow_weight.h>

#include <optional>

#include <halfgrad/autograd/graph/tensor_impl.h>
#include <halfgrad/core/graph.h>

namespace halfgrad::detail {
namespace {

using Impl = std::shared_ptr<TensorImpl>;

// Number of replays before the one that calls this.
std::uint64_t earlier_replays() { return Graph::replays() - 1; }

// The captured region reads the shadow instead of casting.
void keep_current_for_replays(const std::shared_ptr<ShadowWeight>& shadow, const Impl& weight) {
  if (!Graph::is_capturing()) return;
  Graph::before_replay([=] { shadow->refresh(weight->array, earlier_replays()); });
}

// The captured step writes weight and shadow. The rest of the graph may write the weight too: then
// the weight has another state when the capture ends, and the shadow counts as stale after a
// replay. The first replay finds out.
void mark_after_replays(const std::shared_ptr<ShadowWeight>& shadow, const Impl& weight) {
  if (!Graph::is_capturing()) return;
  Graph::before_replay(
      [=, captured = WriteState::of(weight->array), writes_last = std::optional<bool>()]() mutable {
        shadow->refresh(weight->array, earlier_replays());
        if (!writes_last) writes_last = captured == WriteState::of(weight->array);
        if (*writes_last) shadow->mark_current(weight->array, Graph::replays());
      });
}

}  // namespace

WriteState WriteState::of(const Array& array) {
  const std::shared_ptr<Storage>& storage = array.storage();
  return {storage, storage->version(), storage->raw_writes()};
}

bool WriteState::operator==(const WriteState& other) const {
  return storage.lock() == other.storage.lock() && version == other.version &&
         raw_writes == other.raw_writes;
}

ShadowWeight::ShadowWeight(const Array& weight, DType dtype)
    : elements_(Array::empty(weight.sizes(), dtype, weight.device())) {}

bool ShadowWeight::is_current(const Array& weight, std::uint64_t replays) const {
  return !weight.storage()->is_exposed() && replays_ == replays &&
         weight_ == WriteState::of(weight) && own_ == WriteState::of(elements_) &&
         elements_.sizes() == weight.sizes() && strides_ == weight.strides() &&
         offset_ == weight.storage_offset();
}

bool ShadowWeight::is_behind_by_one_write(const Array& weight) const {
  WriteState next = weight_;
  ++next.version;
  return next == WriteState::of(weight);
}

void ShadowWeight::mark_current(const Array& weight, std::uint64_t replays) {
  weight_ = WriteState::of(weight);
  own_ = WriteState::of(elements_);
  strides_ = weight.strides();
  offset_ = weight.storage_offset();
  replays_ = replays;
}

void ShadowWeight::refresh(const Array& weight, std::uint64_t replays) {
  if (is_current(weight, replays)) return;
  elements_.copy_(weight);
  mark_current(weight, replays);
}

Array shadow_of(const Tensor& weight, DType dtype) {
  const std::shared_ptr<ShadowWeight>& shadow = weight.impl()->shadow;
  if (shadow == nullptr || shadow->elements().dtype() != dtype) return {};
  // Nobody may keep elements that a replay overwrites. A graph that uses the shadow refers to it.
  const bool is_usable = Graph::is_capturing() ? shadow->is_unshared() : shadow.use_count() == 1;
  if (!is_usable || !shadow->is_current(weight.array(), Graph::replays())) return {};
  keep_current_for_replays(shadow, weight.impl());
  return shadow->elements();
}

const Array* shadow_to_write(const Tensor& weight, DType dtype) {
  std::shared_ptr<ShadowWeight>& shadow = weight.impl()->shadow;
  const Array& from = weight.array();
  const bool is_usable =
      shadow != nullptr && shadow->is_unshared() && shadow->elements().dtype() == dtype &&
      shadow->elements().sizes() == from.sizes() && shadow->elements().device() == from.device();
  if (!is_usable) shadow = std::make_shared<ShadowWeight>(from, dtype);
  shadow->refresh(from, Graph::replays());
  return &shadow->elements();
}

void shadow_was_written(const Tensor& weight) {
  const std::shared_ptr<ShadowWeight>& shadow = weight.impl()->shadow;
  if (!shadow->is_behind_by_one_write(weight.array())) return;
  shadow->mark_current(weight.array(), Graph::replays());
  mark_after_replays(shadow, weight.impl());
}

}  // namespace halfgrad::detail
