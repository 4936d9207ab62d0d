// Matrix products by cuBLASLt. Its heuristic chooses an algorithm for the operands, layouts and
// epilogue. The choice is cached, since the heuristic takes longer than a small product.
//
// f64 is accumulated in f64, everything else in f32. Partial sums along k (split-K) are added in
// the accumulating type in a second pass. The other reduction schemes, which round to the output's
// dtype in between, run only if allow_fp16_reduced_precision_reduction() permits it. All algorithms
// add in one order, so equal calls give equal bits.

#include <halfgrad/core/cuda/kernels/gemm_cublaslt.h>

#include <cublasLt.h>

#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include <halfgrad/core/array.h>
#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/kernels/cublaslt_description.h>
#include <halfgrad/core/cuda/runtime/runtime.h>

namespace halfgrad::detail {
namespace {

// Returns the alignment in bytes of every matrix of the batch, a power of two up to 256.
std::uint32_t alignment_of(const ColumnMajor& m, std::int64_t count) {
  auto all = reinterpret_cast<std::uintptr_t>(m.data) | 256U;
  if (count > 1) all |= static_cast<std::uintptr_t>(m.batch_stride * item_size(m.dtype));
  return static_cast<std::uint32_t>(all & (~all + 1));
}

struct PerDevice {
  cublasLtHandle_t handle = nullptr;
  std::size_t workspace = 0;  // bytes that an algorithm may use
};

// Created at first use and never destroyed: at exit the driver may be unloaded already.
PerDevice on_device(const ColumnMajorProduct& p) {
  static std::mutex mutex;
  static auto* const devices = new std::map<int, PerDevice>;
  const std::lock_guard lock(mutex);
  PerDevice& own = (*devices)[p.device.index()];
  if (own.handle == nullptr) {
    int major = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, p.device.index()),
          "gemm", "cudaDeviceGetAttribute");
    constexpr std::size_t kMiB = std::size_t{1} << 20;
    own.workspace = (major >= 9 ? 32 : 4) * kMiB;
    check_lt(cublasLtCreate(&own.handle), "cublasLtCreate", p);
  }
  return own;
}

struct Algorithm {
  cublasLtMatmulAlgo_t algorithm;
  std::size_t workspace;
};

// Everything that the choice of an algorithm depends on.
using Key = std::array<std::int64_t, 26>;

Key key_of(const ColumnMajorProduct& p) {
  Key key{p.device.index(),
          p.count,
          static_cast<std::int64_t>(compute_type_of(p.a.dtype)),
          reductions_for(p.a.dtype),
          static_cast<std::int64_t>(kind_of(p.epilogue)),
          p.epilogue.aux_stride,
          p.a.transposed,
          p.b.transposed};
  std::size_t at = 8;
  for (const ColumnMajor* m : {&p.a, &p.b, &p.c}) {
    for (const std::int64_t part :
         {static_cast<std::int64_t>(m->dtype), m->rows, m->cols, m->leading, m->batch_stride,
          static_cast<std::int64_t>(alignment_of(*m, p.count))}) {
      key[at++] = part;
    }
  }
  return key;
}

// Asks the heuristic for an algorithm.
std::optional<Algorithm> query_heuristic(const PerDevice& device, Description& d,
                                         const ColumnMajorProduct& p) {
  cublasLtMatmulPreferenceOpaque_t preference;
  check_lt(cublasLtMatmulPreferenceInit(&preference), "cublasLtMatmulPreferenceInit", p);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    check_lt(cublasLtMatmulPreferenceSetAttribute(&preference, attribute, &value, sizeof value),
             "cublasLtMatmulPreferenceSetAttribute", p);
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, device.workspace);
  set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, reductions_for(p.a.dtype));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(p.a, p.count));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(p.b, p.count));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(p.c, p.count));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(p.c, p.count));
  cublasLtMatmulHeuristicResult_t best{};
  int found = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      device.handle, d.matmul(), d.a(), d.b(), d.c(), d.c(), &preference, 1, &best, &found);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && found == 0)) {
    return std::nullopt;
  }
  check_lt(status, "cublasLtMatmulAlgoGetHeuristic", p);
  return Algorithm{best.algo, best.workspaceSize};
}

// Returns `algorithm`, with the workspace that it needs for `p`, unless cuBLASLt cannot run it.
std::optional<Algorithm> checked(const Algorithm& algorithm, const PerDevice& device,
                                 Description& d) {
  cublasLtMatmulHeuristicResult_t result{};
  const cublasStatus_t status = cublasLtMatmulAlgoCheck(
      device.handle, d.matmul(), d.a(), d.b(), d.c(), d.c(), &algorithm.algorithm, &result);
  if (status != CUBLAS_STATUS_SUCCESS || result.workspaceSize > device.workspace) {
    return std::nullopt;
  }
  return Algorithm{algorithm.algorithm, result.workspaceSize};
}

// Caches the algorithm of each kind of product, and which kinds cuBLASLt refused.
class KnownAlgorithms {
 public:
  // relu and its derivative as epilogues take the algorithm of the product without them. Another
  // one could add in another order, and the result would depend on whether relu is an op of its
  // own.
  std::optional<Algorithm> find_or_choose(const PerDevice& device, Description& d,
                                          const ColumnMajorProduct& p) {
    const Key key = key_of(p);
    {
      const std::lock_guard lock(mutex_);
      const auto found = known_.find(key);
      if (found != known_.end()) return found->second;
    }
    const bool is_relu =
        p.epilogue.activation == Activation::relu || p.epilogue.relu_mask != nullptr;
    const std::optional<Algorithm> answer =
        is_relu ? algorithm_without_relu(device, d, p) : query_heuristic(device, d, p);
    const std::lock_guard lock(mutex_);
    return known_.emplace(key, answer).first->second;
  }
  void refuse(const ColumnMajorProduct& p) {
    const std::lock_guard lock(mutex_);
    known_[key_of(p)] = std::nullopt;
  }

 private:
  std::optional<Algorithm> algorithm_without_relu(const PerDevice& device, Description& d,
                                                  const ColumnMajorProduct& p) {
    ColumnMajorProduct before = p;
    before.epilogue = {.bias = p.epilogue.bias};
    Description description(before);
    const std::optional<Algorithm> found = find_or_choose(device, description, before);
    return found ? checked(*found, device, d) : std::nullopt;
  }

  std::mutex mutex_;
  std::map<Key, std::optional<Algorithm>> known_;
};

KnownAlgorithms& known_algorithms() {
  static auto* const known = new KnownAlgorithms;
  return *known;
}

bool run(const ColumnMajorProduct& p) {
  const Launch launch(p.device, "gemm", {p.count, p.c.cols, p.c.rows});
  const PerDevice device = on_device(p);
  Description d(p);
  const std::optional<Algorithm> chosen = known_algorithms().find_or_choose(device, d, p);
  if (!chosen) return false;
  // Allocated on this stream, so the next use of the block is queued after the product.
  const auto bytes = static_cast<std::int64_t>(chosen->workspace);
  const Array workspace = Array::empty({bytes}, DType::u8, p.device);
  const auto alpha = static_cast<float>(p.alpha), beta = static_cast<float>(p.beta);
  const bool wide = p.c.dtype == DType::f64;
  const void* const alpha_at = wide ? static_cast<const void*>(&p.alpha) : &alpha;
  const void* const beta_at = wide ? static_cast<const void*>(&p.beta) : &beta;
  void* const out = const_cast<void*>(p.c.data);
  check_lt(cublasLtMatmul(device.handle, d.matmul(), alpha_at, p.a.data, d.a(), p.b.data, d.b(),
                          beta_at, out, d.c(), out, d.c(), &chosen->algorithm, workspace.data(),
                          chosen->workspace, launch.stream()),
           "cublasLtMatmul", p);
  return true;
}

// Multiplies two matrices of NaN on a stream of its own; the host waits for it.
bool try_relu_of_nan(const ColumnMajorProduct& p) try {
  constexpr std::int64_t kSize = 16;
  const OwnStream stream(p.device);
  const StreamScope scope(stream.get());
  const Array nan = Array::full({kSize, kSize}, std::nan(""), p.a.dtype, p.device);
  const Array out = Array::full({kSize, kSize}, 0, p.c.dtype, p.device);
  const auto view = [](const Array& array) {
    return ColumnMajor{array.data(), array.dtype(), kSize, kSize, kSize, kSize * kSize, false};
  };
  Epilogue relu{.activation = Activation::relu};
  if (p.epilogue.bias.data != nullptr) relu.bias = {nan.data(), p.epilogue.bias.dtype};
  return run({p.device, 1, 1, 0, view(nan), view(nan), view(out), relu}) &&
         std::isnan(out.select(0, 0).select(0, 0).item());
} catch (const Refusal&) {
  return false;
}

// Returns whether the epilogue's relu of NaN is NaN. In some releases it is 0, which hides an
// overflow. It is tried once for each device, dtype and kind. While a graph is captured the host
// cannot wait for the trial: unless a warm-up has made it, the answer is no.
bool relu_keeps_nan(const ColumnMajorProduct& p) {
  using Kind = std::array<int, 4>;
  static std::mutex mutex;
  static auto* const known = new std::map<Kind, bool>;
  const Kind kind{p.device.index(), static_cast<int>(p.a.dtype), static_cast<int>(p.c.dtype),
                  p.epilogue.bias.data != nullptr};
  const std::lock_guard lock(mutex);
  const auto found = known->find(kind);
  if (found != known->end()) return found->second;
  if (runtime::is_capturing(p.device.index(), current_stream(p.device).native())) return false;
  return known->emplace(kind, try_relu_of_nan(p)).first->second;
}

}  // namespace

std::string description(const ColumnMajorProduct& p) {
  const std::int64_t k = p.a.transposed ? p.a.rows : p.a.cols;
  return to_string(Shape{p.c.cols, k}) + " by " + to_string(Shape{k, p.c.rows}) + " of " +
         std::string(name(p.a.dtype)) + " to " + std::string(name(p.c.dtype));
}

bool multiply_by_cublaslt(const ColumnMajorProduct& p) {
  if (kind_of(p.epilogue) == CUBLASLT_EPILOGUE_DEFAULT) return run(p);
  try {
    const bool may_hide_nan =
        p.epilogue.activation == Activation::relu && p.epilogue.aux == nullptr;
    if (may_hide_nan && !relu_keeps_nan(p)) return false;
    return run(p);
  } catch (const Refusal&) {
    known_algorithms().refuse(p);
    return false;
  }
}

}  // namespace halfgrad::detail
