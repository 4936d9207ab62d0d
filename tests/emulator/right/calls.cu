// Recursion, tables of functions, virtual calls on objects made on the device.
#include "../right.h"

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Box : Shape {
  float a, b;
  __device__ Box(float x, float y) : a(x), b(y) {}
  __device__ float area() const override { return a * b; }
};

using Operation = float (*)(float, float);
__device__ float sum(float a, float b) { return a + b; }
__device__ float product(float a, float b) { return a * b; }
__device__ Operation operations[] = {sum, product};

__global__ void make(Shape** shapes) {
  const int i = threadIdx.x;
  if (i % 2 == 0)
    shapes[i] = new Square(float(i));
  else
    shapes[i] = new Box(float(i), 2.0f);
}
__global__ void use(Shape** shapes, float* result) {
  const int i = threadIdx.x;
  result[i] = operations[i / 4 % 2](shapes[i]->area(), float(fibonacci(i % 10)));
  delete shapes[i];
}

int main() {
  Buffer<Shape*> shapes(32);
  Buffer<float> result(32);
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
  make<<<1, 32>>>(shapes);
  use<<<1, 32>>>(shapes, result);
  settle();
  const auto host = values(result.data, 32);
  const int fib[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34};
  for (int i = 0; i < 32; ++i) {
    const float area = i % 2 == 0 ? float(i) * i : 2.0f * i;
    EXPECT(host[i] == (i / 4 % 2 == 0 ? area + fib[i % 10] : area * fib[i % 10]));
  }
}
