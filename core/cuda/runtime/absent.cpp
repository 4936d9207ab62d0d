// The functions of core/cuda in a build without CUDA, which has no GPU: nothing calls most of them.
#if !defined(HALFGRAD_CUDA)

#include <stdexcept>

#include <halfgrad/core/cuda/kernels/attention.h>
#include <halfgrad/core/cuda/kernels/class_total.h>
#include <halfgrad/core/cuda/kernels/copy.h>
#include <halfgrad/core/cuda/kernels/cross_entropy.h>
#include <halfgrad/core/cuda/kernels/gemm.h>
#include <halfgrad/core/cuda/kernels/gemm_small.h>
#include <halfgrad/core/cuda/kernels/indices.h>
#include <halfgrad/core/cuda/kernels/layer_norm.h>
#include <halfgrad/core/cuda/kernels/mlp.h>
#include <halfgrad/core/cuda/kernels/random.h>
#include <halfgrad/core/cuda/kernels/sort.h>
#include <halfgrad/core/cuda/runtime/runtime.h>
#include <halfgrad/core/error.h>

namespace halfgrad::detail {
namespace {

[[noreturn]] void absent() {
  throw halfgrad::detail::Raised<std::logic_error>(
      "cuda: expected no call in a build without CUDA");
}

}  // namespace

namespace runtime {

int device_count() noexcept { return 0; }
std::string why_unavailable() { return "this build has no CUDA backend"; }
int current_device() { absent(); }
void set_device(int) { absent(); }
cuda::DeviceProperties device_properties(int) { absent(); }
void synchronize_device(int) { absent(); }

void* create_stream(int, bool) { absent(); }
void synchronize_stream(int, void*) { absent(); }

void* create_event(int, bool) { absent(); }
void destroy_event(void*) noexcept {}
void record_event(int, void*, void*) { absent(); }
void make_wait(int, void*, void*) { absent(); }
bool has_passed(void*) { absent(); }
void synchronize_event(void*) { absent(); }
float elapsed_time(void*, void*) { absent(); }

MemorySource device_memory(int) { absent(); }
MemorySource pinned_memory() { absent(); }

bool is_capturing(int, void*) { absent(); }
void begin_capture(int, void*) { absent(); }
void* end_capture(int, void*) { absent(); }
void launch_graph(int, void*, void*) { absent(); }
void destroy_graph(void*) noexcept {}

}  // namespace runtime

void transfer(const Array&, const Array&, std::size_t) { absent(); }
void copy_on_cuda(const Array&, const Array&) { absent(); }
void fill_on_cuda(const Array&, const Array&) { absent(); }

Array checked_indices_on_cuda(const char*, const Array&, std::int64_t,
                              std::optional<std::int64_t>) {
  absent();
}
void throw_reported_index(Device) {}
bool gemm_on_cuda(const GemmCall&) { absent(); }
bool multiply_small(const GemmCall&) { absent(); }
bool normalize_on_cuda(bool, const Array&, const Array&, const Array&, double, const Array&,
                       const Array&) {
  absent();
}
NormalizeGradient normalize_gradient_on_cuda(bool, const Array&, const Array&, const Array&,
                                             const Array&) {
  absent();
}
void attention_on_cuda(const AttentionOperands&, const Array&, const Array&) { absent(); }
AttentionGradients attention_gradient_on_cuda(const AttentionOperands&, const Array&, const Array&,
                                              const Array&) {
  absent();
}
bool mlp_fits_cuda(const MlpArrays&) { absent(); }
void mlp_on_cuda(const MlpArrays&, const Array&) { absent(); }
bool mlp_sums_fit_cuda(const MlpArrays&) { absent(); }
MlpGradients mlp_gradient_on_cuda(const MlpArrays&, const Array&, bool) { absent(); }
MlpFactors mlp_factors_on_cuda(const MlpArrays&, const Array&, bool) { absent(); }
bool mlp_loss_fits_cuda(const MlpArrays&) { absent(); }
void mlp_loss_on_cuda(const MlpArrays&, const MlpLoss&) { absent(); }
MlpGradients mlp_loss_gradient_on_cuda(const MlpArrays&, const MlpLoss&, const Array&, bool) {
  absent();
}
MlpFactors mlp_loss_factors_on_cuda(const MlpArrays&, const MlpLoss&, const Array&, bool) {
  absent();
}
bool mlp_fits_warpgroups(const MlpArrays&) { absent(); }
MlpGradients mlp_gradient_by_warpgroups(const MlpArrays&, const Array&, bool) { absent(); }
MlpGradients mlp_loss_gradient_by_warpgroups(const MlpArrays&, const MlpLoss&, const Array&, bool) {
  absent();
}
bool class_total_takes(const Array&, const Array&) { absent(); }
void class_total_on_cuda(const Array&, const Array&, std::int64_t, bool, const ClassTotal&) {
  absent();
}
void class_total_gradient_on_cuda(const Array&, const Array&, bool, const ClassTotal&,
                                  const Array&) {
  absent();
}
bool class_loss_on_cuda(const Array&, const Array&, const Array&, const Array&) { absent(); }
ClassOperands::ClassOperands(const Array&, const Array&, std::int64_t) { absent(); }
bool class_gradient_from_operands_takes(const Array&) { absent(); }
void class_gradient_from_operands_on_cuda(const Array&, const Array&, bool, const ClassOperands&,
                                          const Array&) {
  absent();
}
bool class_gradient_on_cuda(const Array&, const Array&, const Array&, const Array&, const Array&) {
  absent();
}
void fill_random_on_cuda(const Array&, const Uniform&, RandomKey) { absent(); }
void fill_random_on_cuda(const Array&, const Normal&, RandomKey) { absent(); }
void fill_random_on_cuda(const Array&, const Bernoulli&, RandomKey) { absent(); }
void fill_random_on_cuda(const Array&, const Integer&, RandomKey) { absent(); }
Array permutation_on_cuda(std::int64_t, RandomKey, Device) { absent(); }
void dropout_on_cuda(const Array&, const Array&, const Keep&, RandomKey) { absent(); }
void set_random_base_on_cuda(const Array&, RandomKey) { absent(); }
void sort_pairs_on_cuda(const char*, const Array&, const Array&, const Array&, const Array&, int) {
  absent();
}

}  // namespace halfgrad::detail

#endif
