// Threads of a block that share memory without the barrier they need.
#include "../planted.h"

constexpr int kThreads = 128;

__global__ void reduce_tail(const float* x, float* out) {
  __shared__ float sums[kThreads];
  const int t = threadIdx.x;
  sums[t] = x[t];
  __syncthreads();
  for (int s = kThreads / 2; s > 32; s /= 2) {
    if (t < s) sums[t] += sums[t + s];
    __syncthreads();
  }
  if (t < 32) {  // The last warp once ran in lockstep.
    sums[t] += sums[t + 32];
    sums[t] += sums[t + 16];  // expect reduce_tail: race
    sums[t] += sums[t + 8];   // expect reduce_tail: race
    sums[t] += sums[t + 4];   // expect reduce_tail: race
    sums[t] += sums[t + 2];   // expect reduce_tail: race
    sums[t] += sums[t + 1];   // expect reduce_tail: race
  }
  if (t == 0) *out = sums[0];
}

__global__ void reduce_barrier_inside(const float* x, float* out) {
  __shared__ float sums[kThreads];
  sums[threadIdx.x] = x[threadIdx.x];
  for (int s = kThreads / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];  // expect reduce_begin: race
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = sums[0];
}

__global__ void scan(const int* x, int* y) {
  __shared__ int sums[kThreads];
  const int t = threadIdx.x;
  sums[t] = x[t];
  __syncthreads();
  for (int step = 1; step < kThreads; step *= 2) {
    if (t >= step) sums[t] += sums[t - step];  // expect scan: race
    __syncthreads();
  }
  y[t] = sums[t];
}

__global__ void double_buffer(const float* x, float* y, int tiles) {
  __shared__ float tile[2][kThreads];
  const int t = threadIdx.x;
  tile[0][t] = x[t];
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles)
      tile[(i + 1) % 2][t] = x[(i + 1) * kThreads + t];  // expect double_buffer: race
    sum += tile[i % 2][(t + 33) % kThreads];             // expect double_buffer: race
    __syncthreads();
  }
  y[t] = sum;
}

__global__ void matrix_product(const float* a, const float* b, float* c, int n) {
  __shared__ float left[16][16], right[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    left[y][x] = a[y * n + k + x];
    right[y][x] = b[(k + y) * 16 + x];  // expect tiles_reused: race
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += left[y][i] * right[i][x];  // expect tiles_reused: race
  }
  c[y * 16 + x] = sum;
}

__global__ void warp_sums(const float* x, float* out) {
  __shared__ float sums[kThreads / 32];
  float sum = x[threadIdx.x];
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(~0u, sum, lanes);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  if (threadIdx.x < 32) {
    sum = threadIdx.x < kThreads / 32 ? sums[threadIdx.x] : 0;  // expect shuffle_then_shared: race
    for (int lanes = 2; lanes > 0; lanes /= 2) sum += __shfl_down_sync(~0u, sum, lanes);
    if (threadIdx.x == 0) *out = sum;
  }
}

__global__ void normalise(const float* x, float* y, int rows) {
  __shared__ float total;
  for (int row = 0; row < rows; ++row) {
    if (threadIdx.x == 0) {
      total = 0;  // expect total_reused: race
      for (int i = 0; i < kThreads; ++i)
        total += x[row * kThreads + i];  // expect total_reused: race
    }
    __syncthreads();
    y[row * kThreads + threadIdx.x] = x[row * kThreads + threadIdx.x] / total;
  }
}

__global__ void count_values(const unsigned char* x, int* out, int n) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) ++bins[x[i] % 16];  // expect histogram: race
  __syncthreads();
  if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];
}

__global__ void transpose(const int* x, int* y) {
  __shared__ int tile[32][33];
  for (int row = threadIdx.y; row < 32; row += 8)
    tile[row][threadIdx.x] = x[row * 32 + threadIdx.x];
  __syncwarp();
  for (int row = threadIdx.y; row < 32; row += 8)
    y[row * 32 + threadIdx.x] = tile[threadIdx.x][row];  // expect warp_barrier_only: race
}

__global__ void compact(const int* x, int* y, int* count) {
  __shared__ int kept[kThreads], size;
  if (threadIdx.x == 0) size = 0;
  __syncthreads();
  if (x[threadIdx.x] >= 0) kept[atomicAdd(&size, 1)] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x < size) y[threadIdx.x] = kept[threadIdx.x];
  if (threadIdx.x == 0) size = 0;  // expect counter_reset: race
  if (x[threadIdx.x] < 0) atomicAdd(&size, 1);
  __syncthreads();
  if (threadIdx.x == 0) *count = size;
}

__global__ void neighbours(const float* x, float* y) {
  __shared__ float row[kThreads];
  const int t = threadIdx.x;
  row[t] = x[t];
  if (t > 0 && t < kThreads - 1) y[t] = row[t - 1] + row[t + 1];  // expect stencil: race
}

__global__ void bitonic(int* x) {
  __shared__ int keys[kThreads];
  const int t = threadIdx.x;
  keys[t] = x[t];
  __syncthreads();
  for (int k = 2; k <= kThreads; k *= 2) {
    for (int j = k / 2; j > 0; j /= 2) {
      const int other = t ^ j;
      if (other > t && (keys[t] > keys[other]) == ((t & k) == 0)) {  // expect sort: race
        const int swapped = keys[t];
        keys[t] = keys[other];
        keys[other] = swapped;  // expect sort: race
      }
    }
    __syncthreads();
  }
  x[t] = keys[t];
}

__global__ void producer_consumer(const int* x, int* y) {
  __shared__ int box[32];
  if (threadIdx.x < 32) {
    box[threadIdx.x] = x[threadIdx.x];
    __threadfence_block();
  } else {
    y[threadIdx.x - 32] = box[threadIdx.x - 32];  // expect fence_only: race
  }
}

template <class Kernel, class... Arguments>
void run(dim3 block, Kernel kernel, Arguments... arguments) {
  kernel<<<1, block>>>(arguments...);
  finish();
}

using Floats = Buffer<float>;
using Integers = Buffer<int>;

void run_compact() {
  Integers x(kThreads), y(kThreads), n(1);
  CHECK(cudaMemset(x, 0xff, 40 * sizeof(int)));
  run(kThreads, compact, x.data, y.data, n.data);
}

void run_sort() {
  Integers x(kThreads);
  int keys[kThreads];
  for (int i = 0; i < kThreads; ++i) keys[i] = i * 89 % kThreads;
  CHECK(cudaMemcpy(x, keys, sizeof keys, cudaMemcpyHostToDevice));
  run(kThreads, bitonic, x.data);
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"reduce_tail",
                    [] {
                      Floats x(kThreads), y(1);
                      run(kThreads, reduce_tail, x.data, y.data);
                    }},
                   {"reduce_begin",
                    [] {
                      Floats x(kThreads), y(1);
                      run(kThreads, reduce_barrier_inside, x.data, y.data);
                    }},
                   {"scan",
                    [] {
                      Integers x(kThreads), y(kThreads);
                      run(kThreads, scan, x.data, y.data);
                    }},
                   {"double_buffer",
                    [] {
                      Floats x(4 * kThreads), y(kThreads);
                      run(kThreads, double_buffer, x.data, y.data, 4);
                    }},
                   {"tiles_reused",
                    [] {
                      Floats a(512), b(512), c(256);
                      run(dim3(16, 16), matrix_product, a.data, b.data, c.data, 32);
                    }},
                   {"shuffle_then_shared",
                    [] {
                      Floats x(kThreads), y(1);
                      run(kThreads, warp_sums, x.data, y.data);
                    }},
                   {"total_reused",
                    [] {
                      Floats x(4 * kThreads), y(4 * kThreads);
                      run(kThreads, normalise, x.data, y.data, 4);
                    }},
                   {"histogram",
                    [] {
                      Buffer<unsigned char> x(1000);
                      Integers y(16);
                      run(kThreads, count_values, x.data, y.data, 1000);
                    }},
                   {"warp_barrier_only",
                    [] {
                      Integers x(1024), y(1024);
                      run(dim3(32, 8), transpose, x.data, y.data);
                    }},
                   {"counter_reset", run_compact},
                   {"stencil",
                    [] {
                      Floats x(kThreads), y(kThreads);
                      run(kThreads, neighbours, x.data, y.data);
                    }},
                   {"sort", run_sort},
                   {"fence_only", [] {
                      Integers x(32), y(32);
                      run(64, producer_consumer, x.data, y.data);
                    }}});
}
