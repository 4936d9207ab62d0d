#include <memory>
#include <stdexcept>
#include <utility>

#include <halfgrad/autograd/graph/post_accumulate.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/dist/parallel/gradient_reducer.h>

// The part of GradientReducer that runs during a backward pass.
namespace halfgrad::dist::detail {

using halfgrad::detail::BackwardEnd;
using halfgrad::detail::fail;

// Finishes a backward pass, or abandons it if the pass throws.
class GradientReducer::Pass {
 public:
  explicit Pass(std::shared_ptr<GradientReducer> reducer) : reducer_(std::move(reducer)) {}
  ~Pass() {
    if (!is_finished_) reducer_->abandon_pass();
  }
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  void finish() {
    reducer_->finish_pass();
    is_finished_ = true;
  }

 private:
  std::shared_ptr<GradientReducer> reducer_;
  bool is_finished_ = false;
};

void GradientReducer::on_gradient(Parameter& parameter) {
  parameter.has_gradient = true;
  if (!sync_) return;
  expect_plain_pass(parameter);
  if (!is_in_pass_) start_pass();
  buckets_[parameter.bucket]->place(parameter.position);
  start_complete_buckets();
}

void GradientReducer::expect_plain_pass(const Parameter& parameter) const {
  if (BackwardEnd::is_nested()) {
    fail<std::runtime_error>("DataParallel",
                             "expected a gradient of '{}' from one backward pass, got one from a "
                             "pass inside it; use autograd::grad() there",
                             parameter.name);
  }
  if (is_in_pass_ && buckets_[parameter.bucket]->has_placed(parameter.position)) {
    fail<std::runtime_error>("DataParallel", "expected one gradient of '{}' in a pass, got two",
                             parameter.name);
  }
  if (GradMode::is_enabled()) {
    fail<std::runtime_error>("DataParallel",
                             "expected backward() without create_graph, got it set: the average "
                             "over ranks has no derivative; use autograd::grad(), or no_sync()");
  }
}

void GradientReducer::start_pass() {
  for (const auto& bucket : buckets_) bucket->start();
  next_bucket_ = 0;
  is_in_pass_ = true;
  BackwardEnd::add([pass = std::make_shared<Pass>(shared_from_this())] { pass->finish(); });
}

void GradientReducer::start_complete_buckets() {
  while (next_bucket_ < buckets_.size() && buckets_[next_bucket_]->is_complete()) {
    buckets_[next_bucket_++]->all_reduce();
  }
}

// A parameter that was frozen since the forward pass counts as zero.
void GradientReducer::place_unused() {
  std::string names;
  for (const Parameter& parameter : parameters_) {
    if (!parameter.requires_grad || !parameter.tensor.requires_grad() || parameter.has_gradient) {
      continue;
    }
    names += (names.empty() ? "'" : ", '") + parameter.name + '\'';
  }
  if (!names.empty() && !options_.find_unused_parameters) {
    fail<std::runtime_error>("DataParallel",
                             "expected a gradient for every parameter, got none for {} on {}; set "
                             "find_unused_parameters if the loss may leave some out",
                             names, communicator_->name_of(communicator_->rank()));
  }
  for (const Parameter& parameter : parameters_) {
    if (!parameter.requires_grad) continue;
    GradientBucket& bucket = *buckets_[parameter.bucket];
    if (!bucket.has_placed(parameter.position)) bucket.place_unused(parameter.position);
  }
}

void GradientReducer::finish_pass() {
  place_unused();
  start_complete_buckets();
  std::vector<bool> used;
  if (options_.find_unused_parameters) used = used_anywhere();
  for (const auto& bucket : buckets_) bucket->wait();
  if (options_.find_unused_parameters) adopt_gradients(used);
  for (Parameter& parameter : parameters_) parameter.has_gradient = false;
  is_in_pass_ = false;
}

void GradientReducer::abandon_pass() noexcept {
  for (const auto& bucket : buckets_) bucket->abandon();
  for (Parameter& parameter : parameters_) parameter.has_gradient = false;
  is_in_pass_ = false;
}

// For each parameter, whether any rank has a gradient for it.
std::vector<bool> GradientReducer::used_anywhere() const {
  const auto count = static_cast<std::int64_t>(parameters_.size());
  const Array here = Array::empty({count}, DType::i32);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    here.data_as<std::int32_t>()[i] = parameters_[i].has_gradient;
  }
  const Array anywhere = here.to(device());
  communicator_->all_reduce(anywhere, ReduceOp::max).wait();
  const Array result = anywhere.to(Device());
  const auto* const values = result.data_as<std::int32_t>();
  std::vector<bool> is_used(values, values + count);
  return is_used;
}

void GradientReducer::adopt_gradients(const std::vector<bool>& used) {
  halfgrad::detail::ScaleId scale = halfgrad::detail::kUnknownScale;
  for (const Parameter& parameter : parameters_) {
    if (parameter.has_gradient) {
      scale = halfgrad::detail::scale_of_sum(scale,
                                             halfgrad::detail::scale_id(parameter.tensor.grad()));
    }
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    if (!used[i] || parameter.has_gradient) continue;
    buckets_[parameter.bucket]->adopt(parameter.position, scale);
  }
}

}  // namespace halfgrad::dist::detail
