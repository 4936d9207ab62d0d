#include <benchmark/benchmark.h>

#include <halfgrad/autograd/ops.h>

// What one op costs beyond its arithmetic: a product of one element each, recorded.
namespace halfgrad {
namespace {

Tensor one_element(double value) {
  Tensor tensor(Array::full({1}, value, kFloat));
  return tensor.requires_grad_();
}

void mul_forward(benchmark::State& state) {
  const Tensor x = one_element(2);
  const Tensor y = one_element(3);
  for (auto _ : state) benchmark::DoNotOptimize(x * y);
}

// Forward is not timed by itself inside the loop (starting and stopping the clock costs more than
// an op): subtract mul_forward_1_element.
void mul_forward_backward(benchmark::State& state) {
  const Tensor x = one_element(2);
  const Tensor y = one_element(3);
  for (auto _ : state) {
    (x * y).backward();
    x.impl()->grad = nullptr;
    y.impl()->grad = nullptr;
  }
}

BENCHMARK(mul_forward)->Name("mul_forward_1_element");
BENCHMARK(mul_forward_backward)->Name("mul_forward_backward_1_element");

}  // namespace
}  // namespace halfgrad
