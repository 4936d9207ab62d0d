#include <halfgrad/dist/parallel/gradient_reducer.h>

#include <mutex>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include <halfgrad/autograd/gradient_hooks.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/dist/parallel/same_on_all_ranks.h>

namespace halfgrad::dist::detail {
namespace {

using halfgrad::detail::fail;

constexpr auto kOp = "DataParallel";

// The parameters of all DataParallels of this process.
struct Owned {
  std::mutex mutex;
  std::unordered_set<const void*> parameters;
};

Owned& owned() {
  static Owned only;
  return only;
}

std::string line_of(const std::string& name, const Tensor& tensor) {
  return name + ' ' + to_string(tensor.sizes()) + ' ' +
         std::string(halfgrad::name(tensor.dtype())) +
         (tensor.requires_grad() ? " that requires grad" : "");
}

std::string text_of(const DataParallelOptions& options) {
  return "bucket_bytes = " + std::to_string(options.bucket_bytes) +
         ", find_unused_parameters = " + (options.find_unused_parameters ? "true" : "false") +
         ", broadcast_buffers = " + (options.broadcast_buffers ? "true" : "false") +
         ", gradient_dtype = " +
         (options.gradient_dtype ? std::string(name(*options.gradient_dtype)) : "nullopt");
}

void check(const Communicator* communicator, const DataParallelOptions& options) {
  if (communicator == nullptr) fail(kOp, "expected a communicator, got nullptr");
  if (options.bucket_bytes < 1) {
    fail(kOp, "expected bucket_bytes > 0, got {}", options.bucket_bytes);
  }
  const auto wire = options.gradient_dtype;
  if (wire && *wire != DType::f16 && *wire != DType::bf16) {
    fail(kOp, "expected a gradient_dtype of float16 or bfloat16, got {}", *wire);
  }
}

std::vector<Array> arrays_of(const std::vector<Tensor>& tensors) {
  std::vector<Array> arrays;
  for (const Tensor& tensor : tensors) arrays.push_back(tensor.array());
  return arrays;
}

}  // namespace

GradientReducer::GradientReducer(const nn::Module& module,
                                 std::shared_ptr<Communicator> communicator,
                                 const DataParallelOptions& options)
    : module_(module), communicator_(std::move(communicator)), options_(options) {
  check(communicator_.get(), options_);
  expect_equal_ranks();
  own_parameters();
  try {
    broadcast_all(*communicator_, arrays_of(module_.parameters()), options_.bucket_bytes);
    broadcast_all(*communicator_, arrays_of(module_.buffers()), options_.bucket_bytes);
    make_buckets();
  } catch (...) {
    disown_parameters();
    throw;
  }
}

GradientReducer::~GradientReducer() { disown_parameters(); }

void GradientReducer::disown_parameters() {
  for (Parameter& parameter : parameters_) parameter.hook.remove();
  const std::lock_guard lock(owned().mutex);
  for (const Parameter& parameter : parameters_) {
    owned().parameters.erase(parameter.tensor.impl().get());
  }
}

void GradientReducer::expect_equal_ranks() const {
  std::vector<std::string> lines{text_of(options_)};
  for (const auto& [name, tensor] : module_.named_parameters()) {
    lines.push_back("parameter " + line_of(name, tensor));
  }
  for (const auto& [name, tensor] : module_.named_buffers()) {
    lines.push_back("buffer " + line_of(name, tensor));
  }
  expect_same_lines(*communicator_, kOp, lines, device());
}

Device GradientReducer::device() const {
  const std::vector<Tensor> parameters = module_.parameters();
  return parameters.empty() ? Device() : parameters[0].device();
}

void GradientReducer::own_parameters() {
  const auto named = module_.named_parameters();
  const std::lock_guard lock(owned().mutex);
  for (const auto& [name, tensor] : named) {
    if (!owned().parameters.contains(tensor.impl().get())) continue;
    fail(kOp, "expected parameters that no other DataParallel has, got '{}'; destroy the other one",
         name);
  }
  for (const auto& [name, tensor] : named) {
    owned().parameters.insert(tensor.impl().get());
    parameters_.push_back({.name = name, .tensor = tensor});
  }
}

void GradientReducer::expect_listed_parameters() const {
  const std::vector<Tensor> now = module_.parameters();
  bool is_same = now.size() == parameters_.size();
  for (std::size_t i = 0; is_same && i < now.size(); ++i) {
    is_same = now[i].is_same(parameters_[i].tensor);
  }
  if (is_same) return;
  fail<std::runtime_error>(kOp,
                           "expected the {} parameters with which it was made, got others; make a "
                           "new DataParallel after changing the module",
                           parameters_.size());
}

bool GradientReducer::is_out_of_date() const {
  for (const Parameter& parameter : parameters_) {
    const Tensor& now = parameter.tensor;
    if (now.requires_grad() != parameter.requires_grad || now.dtype() != parameter.dtype ||
        now.device() != parameter.device) {
      return true;
    }
  }
  return false;
}

void GradientReducer::make_buckets() {
  buckets_.clear();
  std::vector<Tensor> with_grad;
  std::vector<Parameter*> owners;
  for (Parameter& parameter : parameters_) {
    parameter.hook.remove();
    const Tensor& tensor = parameter.tensor;
    parameter.requires_grad = tensor.requires_grad();
    parameter.dtype = tensor.dtype();
    parameter.device = tensor.device();
    parameter.has_gradient = false;
    if (!parameter.requires_grad) continue;
    parameter.hook = autograd::register_post_accumulate_grad_hook(
        tensor, [this, &parameter](const Tensor&) { on_gradient(parameter); });
    with_grad.push_back(tensor);
    owners.push_back(&parameter);
  }
  for (const std::vector<std::size_t>& members : assign_buckets(with_grad, options_.bucket_bytes)) {
    std::vector<Tensor> tensors;
    for (const std::size_t i : members) {
      owners[i]->bucket = buckets_.size();
      owners[i]->position = tensors.size();
      tensors.push_back(with_grad[i]);
    }
    buckets_.push_back(std::make_unique<GradientBucket>(std::move(tensors), options_.gradient_dtype,
                                                        communicator_));
  }
}

void GradientReducer::before_forward() {
  if (GradMode::is_enabled()) {
    expect_listed_parameters();
    if (is_out_of_date()) make_buckets();
  }
  if (options_.broadcast_buffers && sync_ && module_.is_training()) {
    broadcast_all(*communicator_, arrays_of(module_.buffers()), options_.bucket_bytes);
  }
}

}  // namespace halfgrad::dist::detail
