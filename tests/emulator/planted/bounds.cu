// Accesses outside of the memory that they are meant for, one bug in each case.
#include "../planted.h"

struct Weights {
  float taps[5];
};
__constant__ float table[12];

__global__ void far_away(const float* image, float* out, int rows, int pitch) {
  const int row = threadIdx.x;
  if (row < rows) out[row] = image[row * pitch * sizeof(float)];  // expect far_away: out-of-bounds
}

__global__ void overflow(float* x, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int index = row * columns;
  if (row < rows) x[index] = 1;  // expect overflow: out-of-bounds
}

__global__ void unsigned_wrap(const int* x, int* y, unsigned n) {
  const unsigned i = threadIdx.x;
  y[i] = x[min(i - 1, n)];  // expect unsigned_wrap: out-of-bounds
}

__global__ void reversed(const int* x, int* y, unsigned n) {
  const unsigned i = threadIdx.x;
  if (i <= n) y[i % n] = x[n - i - 1];  // expect reversed: out-of-bounds
}

__global__ void copy_rows(const float* x, float* y, int rows, int columns) {
  const int row = threadIdx.y, column = threadIdx.x;
  y[column * rows + row] = x[column * columns + row];  // expect transposed: out-of-bounds
}

__global__ void scatter(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i + n] = 1;  // expect other_allocation: out-of-bounds
}

__global__ void interpolate(float* y, int n) {
  const int i = threadIdx.x;
  y[i] = (table[i] + table[i + 1]) / 2;  // expect constant_table: out-of-bounds
}

__global__ void filter(const float* x, float* y, int radius, Weights weights) {
  float sum = 0;
  for (int k = 0; k <= 2 * radius; ++k)
    sum += weights.taps[k] * x[threadIdx.x + k];  // expect parameter_array: out-of-bounds
  y[threadIdx.x] = sum;
}

__global__ void sort_small(const int* x, int* y) {
  int kept[8];
  int count = 0;
  for (int i = 0; i < 8; ++i) kept[i] = x[i];
  for (int i = 1; i < 8; ++i) {
    int j = i - 1;
    const int value = kept[i];
    while (kept[j] > value) {  // expect local_before: out-of-bounds
      kept[j + 1] = kept[j];
      --j;
      ++count;
    }
    kept[j + 1] = value;
  }
  for (int i = 0; i < 8; ++i) y[i] = kept[i] + count;
}

__global__ void halo(const float* x, float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  const int left = static_cast<int>(threadIdx.x) - 1;
  y[threadIdx.x] = tile[threadIdx.x] - tile[left];  // expect shared_before: out-of-bounds
}

__global__ void two_arrays(const int* x, int* y, int n) {
  extern __shared__ int first[];
  int* second = first + n;
  first[threadIdx.x] = x[threadIdx.x];
  second[threadIdx.x] = x[threadIdx.x] * 2;  // expect dynamic_second: out-of-bounds
  __syncthreads();
  y[threadIdx.x] = first[threadIdx.x] + second[n - 1 - threadIdx.x];
}

__global__ void grades(const int* x, int* bins, int n) {
  const int i = threadIdx.x;
  if (i < n) atomicAdd(&bins[x[i] / 10], 1);  // expect atomic_bin: out-of-bounds
}

__global__ void negate(float* x, int n) {
  const int i = 4 * threadIdx.x;
  if (i < n) {
    float4& four = reinterpret_cast<float4*>(x)[threadIdx.x];
    const float4 v = four;  // expect vector_tail: out-of-bounds
    four = make_float4(-v.x, -v.y, -v.z, -v.w);
  }
}

__global__ void words(const char* text, int* out, int n) {
  const int i = threadIdx.x;
  if (4 * i < n) out[i] = reinterpret_cast<const int*>(text)[i];  // expect last_word: out-of-bounds
}

__global__ void increment(int* x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    x[i] += 1;  // expect managed_end: out-of-bounds
                // expect pinned_end: out-of-bounds
}

void run_managed() {
  int* x = nullptr;
  CHECK(cudaMallocManaged(&x, 100 * sizeof(int)));
  for (int i = 0; i < 100; ++i) x[i] = i;
  increment<<<1, 32>>>(x, 101);
  cudaDeviceSynchronize();
  cudaFree(x);
}

void run_pinned() {
  int* x = nullptr;
  CHECK(cudaMallocHost(&x, 100 * sizeof(int)));
  for (int i = 0; i < 100; ++i) x[i] = i;
  increment<<<1, 32>>>(x, 104);
  cudaDeviceSynchronize();
  cudaFreeHost(x);
}

void run_copy() {
  Buffer<float> x(100);
  float host[128];
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);  // expect copy_too_long: out-of-bounds
}

void run_memset() {
  Buffer<float> x(100);
  cudaMemset(x, 0, 128 * sizeof(float));  // expect memset_too_long: out-of-bounds
}

void run_grades() {
  Buffer<int> x(64), bins(10);
  int host[64];
  for (int i = 0; i < 64; ++i) host[i] = 100 - i;
  CHECK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
  grades<<<1, 64>>>(x, bins, 64);
  finish();
}

void run_sort() {
  Buffer<int> x(8), y(8);
  const int host[8] = {5, -3, 4, 3, -4, 1, 0, 2};
  CHECK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
  sort_small<<<1, 1>>>(x, y);
  finish();
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"far_away",
                    [] {
                      Buffer<float> x(64 * 32), y(64);
                      far_away<<<1, 64>>>(x, y, 64, 32);
                      finish();
                    }},
                   {"overflow",
                    [] {
                      Buffer<float> x(65536);
                      overflow<<<256, 256>>>(x, 65536, 65536);
                      finish();
                    }},
                   {"unsigned_wrap",
                    [] {
                      Buffer<int> x(64), y(64);
                      unsigned_wrap<<<1, 64>>>(x, y, 64);
                      finish();
                    }},
                   {"reversed",
                    [] {
                      Buffer<int> x(64), y(64);
                      reversed<<<1, 96>>>(x, y, 64);
                      finish();
                    }},
                   {"transposed",
                    [] {
                      Buffer<float> x(8 * 32), y(8 * 32);
                      copy_rows<<<1, dim3(32, 8)>>>(x, y, 8, 32);
                      finish();
                    }},
                   {"other_allocation",
                    [] {
                      Buffer<float> x(4096), y(4096);
                      scatter<<<16, 256>>>(x, 2048);
                      finish();
                    }},
                   {"constant_table",
                    [] {
                      Buffer<float> y(12);
                      interpolate<<<1, 12>>>(y, 12);
                      finish();
                    }},
                   {"parameter_array",
                    [] {
                      Buffer<float> x(96), y(64);
                      filter<<<1, 64>>>(x, y, 6, Weights{});
                      finish();
                    }},
                   {"local_before", run_sort},
                   {"shared_before",
                    [] {
                      Buffer<float> x(64), y(64);
                      halo<<<1, 64>>>(x, y);
                      finish();
                    }},
                   {"dynamic_second",
                    [] {
                      Buffer<int> x(64), y(64);
                      two_arrays<<<1, 64, 96 * sizeof(int)>>>(x, y, 64);
                      finish();
                    }},
                   {"atomic_bin", run_grades},
                   {"vector_tail",
                    [] {
                      Buffer<float> x(102);
                      negate<<<1, 32>>>(x, 102);
                      finish();
                    }},
                   {"last_word",
                    [] {
                      Buffer<char> text(99);
                      Buffer<int> out(32);
                      words<<<1, 32>>>(text, out, 99);
                      finish();
                    }},
                   {"managed_end", run_managed},
                   {"pinned_end", run_pinned},
                   {"copy_too_long", run_copy},
                   {"memset_too_long", run_memset}});
}
