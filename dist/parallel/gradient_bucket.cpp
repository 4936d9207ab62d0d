#include <halfgrad/dist/parallel/gradient_bucket.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <halfgrad/autograd/graph/gradient_memory.h>
#include <halfgrad/autograd/graph/narrow_gradient.h>

namespace halfgrad::dist::detail {
namespace {

using halfgrad::detail::GradientMemory;
using halfgrad::detail::lend_gradient_memory;
using halfgrad::detail::narrow_elements;
using halfgrad::detail::scale_id;
using halfgrad::detail::set_scale_id;

constexpr std::int64_t kFirstBucketBytes = 1024 * 1024;
constexpr std::int64_t kAlignment = 64;  // bytes, for vector loads

// True if the two arrays are the same elements in memory.
bool is_same_memory(const Array& a, const Array& b) {
  return a.storage() == b.storage() && a.storage_offset() == b.storage_offset() &&
         a.sizes() == b.sizes() && a.is_contiguous() && b.is_contiguous();
}

// The storage of a gradient, which this does not widen.
const Storage* storage_of(const Tensor& gradient) {
  return gradient.defined() ? gradient.impl()->array.storage().get() : nullptr;
}

}  // namespace

std::vector<std::vector<std::size_t>> assign_buckets(const std::vector<Tensor>& parameters,
                                                     std::int64_t bucket_bytes) {
  struct Open {
    std::vector<std::size_t> members;
    std::int64_t bytes = 0;
  };
  std::map<std::pair<std::string, DType>, Open> open;
  std::vector<std::vector<std::size_t>> buckets;
  for (std::size_t i = parameters.size(); i-- > 0;) {
    const Tensor& parameter = parameters[i];
    Open& bucket = open[{parameter.device().str(), parameter.dtype()}];
    bucket.members.push_back(i);
    bucket.bytes += static_cast<std::int64_t>(parameter.nbytes());
    const std::int64_t limit =
        buckets.empty() ? std::min(bucket_bytes, kFirstBucketBytes) : bucket_bytes;
    if (bucket.bytes >= limit) buckets.push_back(std::exchange(bucket, {}).members);
  }
  for (auto& [key, bucket] : open) {
    if (!bucket.members.empty()) buckets.push_back(std::move(bucket.members));
  }
  std::sort(buckets.begin(), buckets.end(),
            [](const auto& a, const auto& b) { return a.back() > b.back(); });
  return buckets;
}

GradientBucket::GradientBucket(std::vector<Tensor> parameters, std::optional<DType> wire,
                               std::shared_ptr<Communicator> communicator)
    : communicator_(std::move(communicator)) {
  const DType dtype = parameters[0].dtype();
  const std::int64_t aligned = kAlignment / static_cast<std::int64_t>(item_size(dtype));
  for (Tensor& parameter : parameters) {
    const std::int64_t size = parameter.numel();
    parameters_.push_back({std::move(parameter), numel_});
    numel_ += (size + aligned - 1) / aligned * aligned;
  }
  if (wire && dtype == DType::f32) wire_dtype_ = wire;
  take_memory();
}

GradientBucket::~GradientBucket() {
  abandon();
  for (const Parameter& parameter : parameters_) lend_gradient_memory(*parameter.tensor.impl(), {});
}

void GradientBucket::take_memory() {
  const Tensor& first = parameters_[0].tensor;
  // The gradients travel from here, unless they do in another dtype.
  flat_ = wire_dtype_ ? Array::empty({numel_}, first.dtype(), first.device())
                      : communicator_->empty({numel_}, first.dtype(), first.device());
  flat_.fill_(0);
  if (wire_dtype_) wire_ = communicator_->empty({numel_}, *wire_dtype_, first.device());
  for (Parameter& parameter : parameters_) {
    const Shape& sizes = parameter.tensor.sizes();
    const Array part = flat_.as_strided(sizes, contiguous_strides(sizes), parameter.offset);
    parameter.view = Array::from_blob(
        part.data(), sizes, part.strides(), part.dtype(), [memory = flat_] {}, part.device());
    lend_gradient_memory(*parameter.tensor.impl(), parameter.view);
  }
}

bool GradientBucket::is_held(const Parameter& parameter) const {
  const std::shared_ptr<Storage>& storage = parameter.view.storage();
  const GradientMemory& lent = *parameter.tensor.impl()->gradient_memory;
  // The view, what is lent, and a gradient of this pass or an earlier one.
  const bool is_gradient =
      lent.is_in_flight || storage_of(parameter.tensor.grad()) == storage.get();
  const bool is_held = storage.use_count() > (is_gradient ? 3 : 2);
  // The last other reference may have ended on a different thread. Releasing one here synchronises
  // with it, so that its reads happen before our writes.
  static_cast<void>(std::shared_ptr<Storage>(storage));
  return is_held;
}

void GradientBucket::start() {
  missing_ = parameters_.size();
  for (Parameter& parameter : parameters_) parameter.is_placed = false;
  const auto held = [this](const Parameter& parameter) { return is_held(parameter); };
  if (std::any_of(parameters_.begin(), parameters_.end(), held)) take_memory();
}

void GradientBucket::count(Parameter& parameter) {
  parameter.is_placed = true;
  --missing_;
}

void GradientBucket::place(std::size_t i) {
  Parameter& parameter = parameters_[i];
  const Tensor gradient = parameter.tensor.grad();
  const Array* const narrow = narrow_elements(gradient);  // null for most gradients
  const Array& elements = narrow != nullptr ? *narrow : gradient.array();
  if (!is_same_memory(elements, parameter.view)) {
    parameter.view.copy_(elements);
    parameter.view.storage()->bump_version();
    const Tensor view(parameter.view);
    set_scale_id(view, scale_id(gradient));
    parameter.tensor.set_grad(view);
  }
  count(parameter);
}

void GradientBucket::place_unused(std::size_t i) {
  Parameter& parameter = parameters_[i];
  if (parameter.tensor.grad().defined()) return place(i);
  parameter.view.fill_(0);
  count(parameter);
}

void GradientBucket::all_reduce() {
  if (numel_ == 0) return;
  if (wire_dtype_) wire_.copy_(flat_);
  work_ = communicator_->all_reduce(wire_dtype_ ? wire_ : flat_, ReduceOp::average);
}

void GradientBucket::wait() {
  if (const auto work = std::exchange(work_, std::nullopt)) work->wait();
  if (wire_dtype_) flat_.copy_(wire_);
  for (const Parameter& parameter : parameters_) {
    const Tensor gradient = parameter.tensor.grad();
    if (storage_of(gradient) != parameter.view.storage().get()) continue;
    halfgrad::detail::bump_version_of_scaled(gradient);
  }
  end_flights();
}

void GradientBucket::adopt(std::size_t i, halfgrad::detail::ScaleId scale) {
  const Parameter& parameter = parameters_[i];
  if (parameter.tensor.grad().defined()) return;
  const Tensor view(parameter.view);
  set_scale_id(view, scale);
  parameter.tensor.set_grad(view);
}

// Gradients of a pass that threw, or of a tied weight, have not become a grad().
void GradientBucket::end_flights() noexcept {
  for (const Parameter& parameter : parameters_) {
    parameter.tensor.impl()->gradient_memory->is_in_flight = false;
  }
}

void GradientBucket::abandon() noexcept {
  end_flights();
  if (!work_) return;
  try {
    work_->wait();
  } catch (...) {  // the exception that ended the backward pass says more
  }
  work_.reset();
}

}  // namespace halfgrad::dist::detail
