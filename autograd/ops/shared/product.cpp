#include <halfgrad/autograd/ops/shared/product.h>

#include <array>
#include <span>

#include <halfgrad/core/cuda/kernels/gemm_small_plan.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/gemm.h>
#include <halfgrad/core/gemm/advanced.h>

namespace halfgrad::detail {
namespace {

constexpr std::int64_t kBitsPerByte = 8;

// One dimension of the batch, and each operand's stride along it.
struct BatchLoop {
  std::int64_t count = 1, a = 0, b = 0, c = 0;
};

struct Matrices {
  MatrixView a, b;
  MutableMatrixView c;
};

template <class View>
View last_two_dims(const Array& array) {
  const int row = array.ndim() - 2;
  return {array.data(),           array.dtype(),        array.sizes()[row],
          array.sizes()[row + 1], array.strides()[row], array.strides()[row + 1],
          array.device()};
}

Array with_batch(const Array& matrices, const Shape& batch) {
  Shape sizes = batch;
  sizes.push_back(matrices.size(-2));
  sizes.push_back(matrices.size(-1));
  return matrices.expand(sizes);
}

// True if both dimensions can be traversed as one.
bool continues(const BatchLoop& outer, const BatchLoop& inner) {
  return outer.a == inner.a * inner.count && outer.b == inner.b * inner.count &&
         outer.c == inner.c * inner.count;
}

// Returns the dimensions of the batch, outermost first, merged where one stride covers several.
std::span<BatchLoop> merged_loops(const Array& a, const Array& b, const Array& c,
                                  std::array<BatchLoop, kMaxDims>& storage) {
  std::size_t loops = 0;
  for (int i = 0; i + 2 < c.ndim(); ++i) {
    if (c.sizes()[i] == 1) continue;
    BatchLoop next{c.sizes()[i], a.strides()[i], b.strides()[i], c.strides()[i]};
    if (loops > 0 && continues(storage[loops - 1], next)) next.count *= storage[--loops].count;
    storage[loops++] = next;
  }
  return std::span(storage).first(loops);
}

// Turns a batch of A with one shared B into a single A with more rows, if one row stride fits all.
bool fold_into_rows(Matrices& m, const BatchLoop& loop) {
  if (m.a.rows == 1) {
    m.a.row_stride = loop.a;
    m.c.row_stride = loop.c;
  }
  if (loop.b != 0 || loop.a != m.a.rows * m.a.row_stride || loop.c != m.c.rows * m.c.row_stride) {
    return false;
  }
  m.a.rows *= loop.count;
  m.c.rows *= loop.count;
  return true;
}

RowBias row_bias(const Array& values) {
  return values.defined() ? RowBias{values.data(), values.dtype()} : RowBias();
}

void run(std::span<const BatchLoop> loops, double alpha, const Matrices& m, double beta,
         const RowBias& bias) {
  const BatchLoop loop = loops.empty() ? BatchLoop() : loops.front();
  if (loops.size() <= 1) {
    gemm_batched(loop.count, alpha, m.a, loop.a, m.b, loop.b, beta, m.c, loop.c, bias);
    return;
  }
  for (std::int64_t i = 0; i < loop.count; ++i) {
    run(loops.subspan(1), alpha,
        {advanced(m.a, i * loop.a), advanced(m.b, i * loop.b), advanced(m.c, i * loop.c)}, beta,
        bias);
  }
}

}  // namespace

void product(double alpha, const Array& a, const Array& b, double beta, const Array& out,
             const Array& bias) {
  if (out.numel() == 0) return;
  const Array values = bias.defined() ? bias.contiguous() : bias;
  if (out.ndim() == 2) {
    gemm(alpha, last_two_dims<MatrixView>(a), last_two_dims<MatrixView>(b), beta,
         last_two_dims<MutableMatrixView>(out), row_bias(values));
    return;
  }
  const Shape batch(out.sizes().data(), static_cast<std::size_t>(out.ndim() - 2));
  const Array as = with_batch(a, batch);
  const Array bs = with_batch(b, batch);
  Matrices m{last_two_dims<MatrixView>(as), last_two_dims<MatrixView>(bs),
             last_two_dims<MutableMatrixView>(out)};
  std::array<BatchLoop, kMaxDims> storage;
  std::span<BatchLoop> loops = merged_loops(as, bs, out, storage);
  if (!loops.empty() && fold_into_rows(m, loops.back())) loops = loops.first(loops.size() - 1);
  run(loops, alpha, m, beta, row_bias(values));
}

bool activated_product(Activation activation, const Array& a, const Array& b, const Array& bias,
                       const Array& out, const Array& aux) {
  if (out.device().is_cpu() || out.numel() == 0) return false;
  // cuBLASLt states no accuracy for its tanh; for 16-bit results it suffices.
  const bool is_gelu = activation == Activation::gelu_tanh;
  if (is_gelu && !is_reduced(out.dtype())) return false;
  constexpr std::int64_t kAuxStride = 8;
  if (is_gelu && aux.defined() && out.size(1) % kAuxStride != 0) return false;
  const Array values = bias.defined() ? bias.contiguous() : bias;
  Epilogue epilogue{.bias = row_bias(values), .activation = activation};
  if (aux.defined()) {
    epilogue.aux = aux.data();
    epilogue.aux_stride = is_gelu ? out.size(1) : kBitsPerByte * aux.size(1);
  }
  return gemm_on_cuda({.count = 1,
                       .alpha = 1,
                       .a = last_two_dims<MatrixView>(a),
                       .b = last_two_dims<MatrixView>(b),
                       .c = last_two_dims<MutableMatrixView>(out),
                       .epilogue = epilogue});
}

bool rounds_while_loading(const Array& x, const Array& w) {
  if (!x.device().is_cuda() || x.dtype() != DType::f32 || x.ndim() == 0 || w.ndim() != 2) {
    return false;
  }
  const std::int64_t in = x.size(-1), out = w.size(0), rows = in > 0 ? x.numel() / in : 0;
  const auto by_rows = [](const Array& m) {
    return m.is_contiguous() || (m.ndim() == 2 && m.strides()[1] == 1);
  };
  // One column is as much by columns as by rows, and rows of w may be, too.
  if (in <= 1 || rows == 0 || out == 0 || !by_rows(x) || !by_rows(w)) return false;
  const GemmBackend backend = gemm_backend();
  return backend == GemmBackend::small_product ||
         (backend == GemmBackend::automatic && is_worth_rounding(rows, out, in));
}

bool rounding_product(Activation activation, const Array& a, const Array& b, const Array& bias,
                      const Array& out) {
  if (out.device().is_cpu() || out.numel() == 0) return false;
  const Array values = bias.defined() ? bias.contiguous() : bias;
  return gemm_on_cuda({.count = 1,
                       .alpha = 1,
                       .a = last_two_dims<MatrixView>(a),
                       .b = last_two_dims<MatrixView>(b),
                       .c = last_two_dims<MutableMatrixView>(out),
                       .epilogue = {.bias = row_bias(values), .activation = activation},
                       .rounds_operand = true});
}

Array relu_mask(const Array& output, std::int64_t k) {
  if (output.device().is_cpu() || !backends::cuda::matmul::allow_relu_mask()) return {};
  const bool is_ours = gemm_backend() != GemmBackend::cublaslt && is_reduced(output.dtype()) &&
                       is_small_product(output.size(0), output.size(1), k);
  if (is_ours) return {};
  constexpr std::int64_t kBytes = 128 / kBitsPerByte;  // cuBLASLt's rows are multiples of 128 bits
  const std::int64_t bytes = (output.size(1) + 127) / 128 * kBytes;
  return Array::empty({output.size(0), bytes}, DType::u8, output.device());
}

bool masked_product(const Array& a, const Array& b, const Array& relu_output, const Array& mask,
                    const Array& out) {
  if (out.device().is_cpu() || out.numel() == 0) return false;
  const auto run = [&](const Epilogue& epilogue) {
    return gemm_on_cuda({.count = 1,
                         .alpha = 1,
                         .a = last_two_dims<MatrixView>(a),
                         .b = last_two_dims<MatrixView>(b),
                         .c = last_two_dims<MutableMatrixView>(out),
                         .epilogue = epilogue});
  };
  if (run({.relu_output = relu_output.data()})) return true;
  return mask.defined() &&
         run({.aux_stride = kBitsPerByte * mask.size(1), .relu_mask = mask.data()});
}

std::optional<ProductAndRowSums> product_and_row_sums(const Array& a, const Array& b) {
  if (a.device().is_cpu() || a.numel() == 0 || b.numel() == 0) return std::nullopt;
  const ProductAndRowSums result{Array::empty({a.size(0), b.size(1)}, a.dtype(), a.device()),
                                 Array::empty({a.size(0)}, a.dtype(), a.device())};
  const bool done = gemm_on_cuda({.count = 1,
                                  .alpha = 1,
                                  .a = last_two_dims<MatrixView>(a),
                                  .b = last_two_dims<MatrixView>(b),
                                  .c = last_two_dims<MutableMatrixView>(result.product),
                                  .epilogue = {.row_sums_of_a = result.row_sums.data()}});
  return done ? std::optional(result) : std::nullopt;
}

void expect_one_dtype(const char* op, const Array& a, const Array& b) {
  if (a.dtype() != b.dtype()) {
    fail(op, "expected operands of one dtype, got {} and {}", a.dtype(), b.dtype());
  }
  if (is_floating_point(a.dtype())) return;
  if (a.dtype() == DType::boolean) {
    fail(op, "expected numeric tensors, got bool; .to(kInt64) turns true into 1");
  }
  if (a.device().is_cuda()) {
    fail(op,
         "expected floating-point operands on a GPU, got {}; convert with .to(kFloat64), which is "
         "exact up to 2^53, or multiply on the CPU",
         a.dtype());
  }
}

}  // namespace halfgrad::detail
