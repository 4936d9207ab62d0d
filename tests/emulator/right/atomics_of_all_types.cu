// Atomics of every type and operation on one address each, by all threads of several blocks.
#include "../right.h"

struct Cells {
  int add, minimum, maximum, exchange, compare;
  unsigned increment, decrement, bits_and, bits_or, bits_xor;
  float real;
  unsigned long long wide_add, wide_max, wide_compare;
  double real_add, real_product;
};

__device__ void multiply(double* address, double factor) {
  auto* bits = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    const double next = __longlong_as_double(assumed) * factor;
    old = atomicCAS(bits, assumed, __double_as_longlong(next));
  } while (assumed != old);
}

__global__ void count(Cells* c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&c->add, i);
  atomicMin(&c->minimum, -i);
  atomicMax(&c->maximum, i);
  atomicExch(&c->exchange, 5);
  atomicCAS(&c->compare, 0, 9);
  atomicInc(&c->increment, 99);
  atomicDec(&c->decrement, 1000);
  atomicAnd(&c->bits_and, ~(1u << (i % 32)));
  atomicOr(&c->bits_or, 1u << (i % 32));
  atomicXor(&c->bits_xor, 3u);
  atomicAdd(&c->real, 1.0f);
  atomicAdd(&c->wide_add, 1ull << 32);
  atomicMax(&c->wide_max, 7ull << 40 | i);
  atomicCAS(&c->wide_compare, 0ull, 1ull << 50);
  atomicAdd_system(&c->real_add, 0.5);
  if (i < 10) multiply(&c->real_product, 2.0);
}

int main() {
  Buffer<Cells> cells(1);
  Cells start = {};
  start.bits_and = ~0u;
  start.decrement = 256;
  start.real_product = 1.0;
  upload(cells.data, std::vector<Cells>{start});
  count<<<4, 64>>>(cells);
  settle();
  const Cells c = values(cells.data, 1)[0];
  EXPECT(c.add == 255 * 128 && c.minimum == -255 && c.maximum == 255);
  EXPECT(c.exchange == 5 && c.compare == 9 && c.increment == 56 && c.decrement == 0);
  EXPECT(c.bits_and == 0 && c.bits_or == ~0u && c.bits_xor == 0 && c.real == 256.0f);
  EXPECT(c.wide_add == 256ull << 32 && c.wide_max == (7ull << 40 | 255));
  EXPECT(c.wide_compare == 1ull << 50 && c.real_add == 128.0 && c.real_product == 1024.0);
}
