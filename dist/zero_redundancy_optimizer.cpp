#include <halfgrad/dist/zero_redundancy_optimizer.h>

#include <algorithm>
#include <utility>

#include <halfgrad/autograd/graph/grad_scale.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::dist {
namespace {

using halfgrad::detail::fail;

constexpr const char* kName = "ZeroRedundancyOptimizer";

std::vector<optim::ParamGroup> one_group(std::vector<Tensor> parameters) {
  std::vector<optim::ParamGroup> groups;
  groups.push_back({.params = std::move(parameters)});
  return groups;
}

void wait_for(const std::vector<Work>& started) {
  for (const Work& work : started) work.wait();
}

}  // namespace

ZeroRedundancyOptimizer::ZeroRedundancyOptimizer(std::vector<Tensor> parameters,
                                                 std::shared_ptr<Communicator> communicator,
                                                 const Factory& make_optimizer,
                                                 const ZeroOptions& options)
    : ZeroRedundancyOptimizer(one_group(std::move(parameters)), std::move(communicator),
                              make_optimizer, options) {}

ZeroRedundancyOptimizer::ZeroRedundancyOptimizer(std::vector<optim::ParamGroup> groups,
                                                 std::shared_ptr<Communicator> communicator,
                                                 const Factory& make_optimizer,
                                                 const ZeroOptions& options)
    : communicator_(std::move(communicator)), options_(options) {
  std::vector<DType> dtypes;
  for (const optim::ParamGroup& group : groups) {
    for (const Tensor& parameter : group.params) {
      if (std::ranges::any_of(parameters_,
                              [&](const Tensor& known) { return known.is_same(parameter); })) {
        fail(kName, "expected each parameter once, got one of shape {} twice", parameter.sizes());
      }
      parameters_.push_back(parameter);
      if (std::ranges::find(dtypes, parameter.dtype()) == dtypes.end()) {
        dtypes.push_back(parameter.dtype());
      }
      if (parameter.device() == parameters_[0].device()) continue;
      fail(kName, "expected parameters on one device, got some on {} and {}",
           parameters_[0].device(), parameter.device());
    }
  }
  if (parameters_.empty()) fail(kName, "expected at least one parameter, got none");
  for (const DType dtype : dtypes) make_bucket(dtype);
  optimizer_ = make_optimizer(make_shards(std::move(groups)));
  if (!optimizer_->is_elementwise()) {
    fail(kName,
         "expected an elementwise optimizer, such as SGD or AdamW, got {}, which needs whole "
         "parameters: a rank has only a part of them",
         optimizer_->name());
  }
  optimizer_->set_sharded();
  optimizer_->set_step_guard([this](const char* method) {
    if (is_reduced_) return;
    fail<std::runtime_error>(method, "expected a call of reduce_gradients() before, got none");
  });
  optimizer_->register_step_post_hook([this](optim::Optimizer&) {
    is_reduced_ = false;
    gather_weights();
  });
}

// Copies the parameters of this dtype into a flat array, and makes them views of it.
void ZeroRedundancyOptimizer::make_bucket(DType dtype) {
  std::vector<std::size_t> members;
  std::vector<std::int64_t> numels;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].dtype() != dtype) continue;
    members.push_back(i);
    numels.push_back(parameters_[i].numel());
  }
  const halfgrad::detail::FlatLayout layout(numels, communicator_->size());
  const Array weights = Array::full({layout.size()}, 0, dtype, parameters_[0].device());
  for (std::size_t k = 0; k < members.size(); ++k) {
    const Tensor& parameter = parameters_[members[k]];
    const Array view = layout.parameter(weights, k).reshape(parameter.sizes());
    view.copy_(parameter.array());
    parameter.set_data(Tensor(view));
  }
  communicator_->broadcast(weights).wait();
  buckets_.push_back({std::move(members), layout, weights});
}

std::vector<optim::ParamGroup> ZeroRedundancyOptimizer::make_shards(
    std::vector<optim::ParamGroup> groups) {
  const int rank = communicator_->rank();
  shards_.resize(parameters_.size());
  for (const Bucket& bucket : buckets_) {
    const Array part = bucket.layout.part(bucket.weights, rank);
    for (std::size_t k = 0; k < bucket.members.size(); ++k) {
      const std::size_t i = bucket.members[k];
      shards_[i] = Tensor(bucket.layout.segment_of_part(part, k, rank));
      shards_[i].requires_grad_(parameters_[i].requires_grad());
    }
  }
  auto shard = shards_.begin();
  for (optim::ParamGroup& group : groups) {
    for (Tensor& parameter : group.params) parameter = *shard++;
  }
  return groups;
}

// A moved parameter would never see the weights that the ranks send.
void ZeroRedundancyOptimizer::expect_views() const {
  for (const Bucket& bucket : buckets_) {
    for (const std::size_t i : bucket.members) {
      if (parameters_[i].array().storage() == bucket.weights.storage()) continue;
      fail<std::runtime_error>(
          "reduce_gradients",
          "expected parameters in the memory that the optimizer gave them, got parameter {} "
          "elsewhere; make the optimizer after to() and set_data()",
          i);
    }
  }
}

Array ZeroRedundancyOptimizer::flat_gradients(const Bucket& bucket) const {
  const DType dtype = bucket.weights.dtype();
  const Array flat = communicator_->empty({bucket.layout.size()}, dtype, bucket.weights.device());
  flat.fill_(0);
  for (std::size_t k = 0; k < bucket.members.size(); ++k) {
    const Tensor& parameter = parameters_[bucket.members[k]];
    if (!parameter.requires_grad()) continue;
    const Tensor gradient = parameter.grad();
    if (!gradient.defined()) {
      fail<std::runtime_error>("reduce_gradients",
                               "expected a gradient of each parameter that requires grad, got none "
                               "of parameter {}, of shape {}",
                               bucket.members[k], parameter.sizes());
    }
    bucket.layout.parameter(flat, k).reshape(parameter.sizes()).copy_(gradient.array());
  }
  return flat;
}

void ZeroRedundancyOptimizer::reduce_gradients() {
  expect_views();
  std::vector<Array> flats, parts;
  std::vector<Work> started;
  for (const Bucket& bucket : buckets_) flats.push_back(flat_gradients(bucket));
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    const Array own = buckets_[b].layout.part(flats[b], communicator_->rank());
    if (options_.gradients_are_averaged) {
      parts.push_back(own.clone());
      continue;
    }
    parts.push_back(Array::empty(own.sizes(), own.dtype(), own.device()));
    started.push_back(communicator_->reduce_scatter(parts.back(), flats[b], ReduceOp::average));
  }
  wait_for(started);
  for (std::size_t b = 0; b < buckets_.size(); ++b) set_gradients(buckets_[b], parts[b]);
  is_reduced_ = true;
}

// Gives the segments their gradients, with the scale that a GradScaler's loss gave them.
void ZeroRedundancyOptimizer::set_gradients(const Bucket& bucket, const Array& part) {
  for (std::size_t k = 0; k < bucket.members.size(); ++k) {
    const std::size_t i = bucket.members[k];
    if (!parameters_[i].requires_grad()) continue;
    const Tensor gradient(bucket.layout.segment_of_part(part, k, communicator_->rank()));
    halfgrad::detail::set_scale_id(gradient, halfgrad::detail::scale_id(parameters_[i].grad()));
    shards_[i].set_grad(gradient);
    parameters_[i].set_grad({});
  }
}

void ZeroRedundancyOptimizer::gather_weights() {
  std::vector<Work> started;
  for (const Bucket& bucket : buckets_) {
    const Array own = bucket.layout.part(bucket.weights, communicator_->rank());
    started.push_back(communicator_->all_gather(bucket.weights, own));
  }
  wait_for(started);
  for (const Bucket& bucket : buckets_) bucket.weights.storage()->bump_version();
}

void ZeroRedundancyOptimizer::zero_grad() {
  for (const Tensor& parameter : parameters_) parameter.set_grad({});
  for (const Tensor& shard : shards_) shard.set_grad({});
  is_reduced_ = false;
}

}  // namespace halfgrad::dist
