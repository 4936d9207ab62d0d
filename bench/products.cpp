#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#if __has_include(<eigen3/Eigen/Core>)
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // in intrinsics that Eigen calls
#endif
#include <eigen3/Eigen/Core>
#define HALFGRAD_EIGEN
#endif

#include <halfgrad/core/gemm.h>
#include <halfgrad/halfgrad.h>

// Matrix products on one core, halfgrad's and, where it is installed, Eigen's: float32, row-major,
// [m, k] by [k, n], and n x n matrices times a vector. The counter is in FLOP/s.
namespace halfgrad {
namespace {

struct Product {
  std::int64_t m, k, n;

  std::string name(const std::string& library) const {
    return library + "/" + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n);
  }
  void count(benchmark::State& state) const {
    const auto flops = static_cast<double>(2 * m * k * n);
    state.counters["FLOP/s"] =
        benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
  }
};

void halfgrad_product(benchmark::State& state, const Product& product) {
  set_num_threads(1);
  const Tensor a = rand({product.m, product.k}), b = rand({product.k, product.n});
  for (auto _ : state) benchmark::DoNotOptimize(mm(a, b));
  product.count(state);
}

#ifdef HALFGRAD_EIGEN
void eigen_product(benchmark::State& state, const Product& product) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Matrix a = Matrix::Random(product.m, product.k), b = Matrix::Random(product.k, product.n);
  Matrix c(product.m, product.n);
  for (auto _ : state) {
    c.noalias() = a * b;
    benchmark::DoNotOptimize(c.data());
  }
  product.count(state);
}
#endif

// A row-major n x n matrix, or its transpose, times a vector: gemm alone, without the cost of an
// op.
void halfgrad_vector(benchmark::State& state, std::int64_t n, DType dtype, bool transposed) {
  set_num_threads(1);
  const Tensor a = rand({n, n}).to(dtype), x = rand({n}).to(dtype), y = zeros({n}).to(dtype);
  const std::int64_t row_stride = transposed ? 1 : n, col_stride = transposed ? n : 1;
  const MatrixView matrix{a.array().data(), dtype, n, n, row_stride, col_stride},
      vector{x.array().data(), dtype, n, 1, 1, 1};
  const MutableMatrixView result{y.array().data(), dtype, n, 1, 1, 1};
  for (auto _ : state) gemm(1, matrix, vector, 0, result);
  Product{n, n, 1}.count(state);
}

#ifdef HALFGRAD_EIGEN
template <class T>
void eigen_vector(benchmark::State& state, std::int64_t n, bool transposed) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  const Matrix a = Matrix::Random(n, n);
  const Vector x = Vector::Random(n);
  Vector y(n);
  for (auto _ : state) {
    if (transposed) {
      y.noalias() = a.transpose() * x;
    } else {
      y.noalias() = a * x;
    }
    benchmark::DoNotOptimize(y.data());
    benchmark::ClobberMemory();
  }
  Product{n, n, 1}.count(state);
}
#endif

void register_vectors(std::int64_t n, bool transposed) {
  const std::string what =
      std::string(transposed ? "transposed" : "rows") + "/" + std::to_string(n);
  for (const DType dtype : {kFloat32, kFloat64, kBFloat16, kFloat16}) {
    const std::string of_dtype = "vector/" + std::string(name(dtype)) + "/" + what;
    benchmark::RegisterBenchmark(("halfgrad/" + of_dtype).c_str(), halfgrad_vector, n, dtype,
                                 transposed);
#ifdef HALFGRAD_EIGEN
    if (dtype == kFloat32) {
      benchmark::RegisterBenchmark(("eigen/" + of_dtype).c_str(), eigen_vector<float>, n,
                                   transposed);
    } else if (dtype == kFloat64) {
      benchmark::RegisterBenchmark(("eigen/" + of_dtype).c_str(), eigen_vector<double>, n,
                                   transposed);
    }
#endif
  }
}

const bool registered = [] {
  for (const Product& product : {Product{128, 784, 512},
                                 {128, 512, 512},
                                 {512, 1024, 1024},
                                 {32, 64, 10},
                                 {128, 512, 10},
                                 {512, 128, 10},
                                 {32, 10, 64},
                                 {128, 10, 512},
                                 {512, 10, 128},
                                 {1, 512, 10},
                                 {1, 784, 512}}) {
    benchmark::RegisterBenchmark(product.name("halfgrad").c_str(), halfgrad_product, product);
#ifdef HALFGRAD_EIGEN
    benchmark::RegisterBenchmark(product.name("eigen").c_str(), eigen_product, product);
#endif
  }
  for (const bool transposed : {false, true}) {
    for (const std::int64_t n : {16, 64, 128, 256, 512, 1024, 2048, 4096}) {
      register_vectors(n, transposed);
    }
  }
  return true;
}();

}  // namespace
}  // namespace halfgrad
