// Products by cuBLASLt: it is told exactly what it multiplies and where that lies, names its best
// algorithm, and the answer is kept, since asking takes longer than a small product.
//
// f64 is accumulated in f64, all else in f32. Sums that are split along k are put together in the
// accumulating type in a second pass: the other schemes round to the output's dtype in between. All
// of them keep one order, so equal calls give equal bits.

#include <halfgrad/core/cuda/gemm_cublaslt.h>

#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

#include <halfgrad/core/array.h>
#include <halfgrad/core/cuda/launch.h>
#include <halfgrad/core/cuda/runtime.h>

namespace halfgrad::detail {
namespace {

struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void check_lt(cublasStatus_t status, const char* call, const ColumnMajorProduct& p) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Refusal(std::string("gemm: expected ") + call + " to succeed for " + description(p) +
                " on " + p.device.str() + ", got " + cublasLtGetStatusName(status));
}

cudaDataType_t type_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return CUDA_R_64F;
    case DType::f16:
      return CUDA_R_16F;
    case DType::bf16:
      return CUDA_R_16BF;
    default:
      return CUDA_R_32F;
  }
}

cublasComputeType_t compute_type_of(DType dtype) {
  if (dtype == DType::f64) return CUBLAS_COMPUTE_64F;
  const bool tf32 = dtype == DType::f32 && backends::cuda::matmul::allow_tf32();
  return tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

std::uint32_t reductions_for(DType dtype) {
  const std::uint32_t exact =
      CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  const bool any =
      dtype == DType::f16 && backends::cuda::matmul::allow_fp16_reduced_precision_reduction();
  return any ? exact | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE : exact;
}

cublasLtEpilogue_t kind_of(const Epilogue& e) {
  if (e.row_sums_of_a != nullptr) return CUBLASLT_EPILOGUE_BGRADB;
  const bool bias = e.bias.data != nullptr;
  switch (e.activation) {
    case Activation::relu:
      return bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case Activation::gelu_tanh:
      if (e.aux != nullptr) {
        return bias ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX;
      }
      return bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    default:
      return bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
  }
}

// What the epilogue's one pointer to a vector is, among our names.
const void* vector_of(const Epilogue& e) {
  return e.row_sums_of_a != nullptr ? e.row_sums_of_a : e.bias.data;
}

// The descriptors live on the stack: they are plain memory that cuBLASLt fills.
class Description {
 public:
  explicit Description(const ColumnMajorProduct& p) : product_(p) {
    const cudaDataType_t scale = p.c.dtype == DType::f64 ? CUDA_R_64F : CUDA_R_32F;
    check_lt(cublasLtMatmulDescInit(&matmul_, compute_type_of(p.a.dtype), scale),
             "cublasLtMatmulDescInit", p);
    set(CUBLASLT_MATMUL_DESC_TRANSA, p.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, p.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, kind_of(p.epilogue));
    if (vector_of(p.epilogue) != nullptr) {
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, vector_of(p.epilogue));
      set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type_of(p.c.dtype));
    }
    if (p.epilogue.aux != nullptr) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, p.epilogue.aux);
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, p.epilogue.aux_stride);
    }
    a_ = layout(p.a);
    b_ = layout(p.b);
    c_ = layout(p.c);
  }

  cublasLtMatmulDesc_t matmul() { return &matmul_; }
  cublasLtMatrixLayout_t a() { return &a_; }
  cublasLtMatrixLayout_t b() { return &b_; }
  cublasLtMatrixLayout_t c() { return &c_; }

 private:
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check_lt(cublasLtMatmulDescSetAttribute(&matmul_, attribute, &value, sizeof value),
             "cublasLtMatmulDescSetAttribute", product_);
  }

  cublasLtMatrixLayoutOpaque_t layout(const ColumnMajor& m) const {
    cublasLtMatrixLayoutOpaque_t made;
    check_lt(cublasLtMatrixLayoutInit(&made, type_of(m.dtype), static_cast<std::uint64_t>(m.rows),
                                      static_cast<std::uint64_t>(m.cols), m.leading),
             "cublasLtMatrixLayoutInit", product_);
    const auto count = static_cast<std::int32_t>(product_.count);
    check_lt(cublasLtMatrixLayoutSetAttribute(&made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                              sizeof count),
             "cublasLtMatrixLayoutSetAttribute", product_);
    check_lt(cublasLtMatrixLayoutSetAttribute(&made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                              &m.batch_stride, sizeof m.batch_stride),
             "cublasLtMatrixLayoutSetAttribute", product_);
    return made;
  }

  const ColumnMajorProduct& product_;
  cublasLtMatmulDescOpaque_t matmul_;
  cublasLtMatrixLayoutOpaque_t a_, b_, c_;
};

// The largest power of two, up to 256, at whose multiples each matrix of the batch begins.
std::uint32_t alignment_of(const ColumnMajor& m, std::int64_t count) {
  auto all = reinterpret_cast<std::uintptr_t>(m.data) | 256U;
  if (count > 1) all |= static_cast<std::uintptr_t>(m.batch_stride * item_size(m.dtype));
  return static_cast<std::uint32_t>(all & (~all + 1));
}

struct PerDevice {
  cublasLtHandle_t handle = nullptr;
  std::size_t workspace = 0;  // bytes that an algorithm may ask for
};

// Made at first use, and never destroyed: the driver may be gone before we are.
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

std::optional<Algorithm> ask(const PerDevice& device, Description& d, const ColumnMajorProduct& p) {
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

// Which algorithm each kind of product runs with; none for those that are refused.
class KnownAlgorithms {
 public:
  std::optional<Algorithm> find_or_ask(const PerDevice& device, Description& d,
                                       const ColumnMajorProduct& p) {
    const Key key = key_of(p);
    {
      const std::lock_guard lock(mutex_);
      const auto found = known_.find(key);
      if (found != known_.end()) return found->second;
    }
    const std::optional<Algorithm> answer = ask(device, d, p);
    const std::lock_guard lock(mutex_);
    return known_.emplace(key, answer).first->second;
  }
  void refuse(const ColumnMajorProduct& p) {
    const std::lock_guard lock(mutex_);
    known_[key_of(p)] = std::nullopt;
  }

 private:
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
  const std::optional<Algorithm> chosen = known_algorithms().find_or_ask(device, d, p);
  if (!chosen) return false;
  // On this stream, so that what uses the block next is queued behind the product.
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

// Multiplies two matrices of NaN, on a stream of its own. The host waits for that.
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

// Whether the epilogue's relu of NaN is NaN. In some releases it is 0, which hides an overflow. It
// is tried once for each device, dtype and kind; not while a graph is captured, when nothing may be
// waited for: a warm-up has tried it, or else the answer is no.
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
    if (p.epilogue.activation == Activation::relu && !relu_keeps_nan(p)) return false;
    return run(p);
  } catch (const Refusal&) {
    known_algorithms().refuse(p);
    return false;
  }
}

}  // namespace halfgrad::detail
