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

#include <halfgrad/halfgrad.h>

// Matrix products on one core, float32, row-major, [m, k] by [k, n]: halfgrad's and, where it is
// installed, Eigen's. The counter is in FLOP/s.
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

const bool registered = [] {
  for (const Product& product : {Product{128, 784, 512},
                                 {128, 512, 512},
                                 {512, 1024, 1024},
                                 {128, 512, 10},
                                 {1, 784, 512},
                                 {1024, 1024, 1}}) {
    benchmark::RegisterBenchmark(product.name("halfgrad").c_str(), halfgrad_product, product);
#ifdef HALFGRAD_EIGEN
    benchmark::RegisterBenchmark(product.name("eigen").c_str(), eigen_product, product);
#endif
  }
  return true;
}();

}  // namespace
}  // namespace halfgrad
