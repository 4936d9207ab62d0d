// Dynamic parallelism in the style of NVIDIA's samples: recursion, streams and events of kernels,
// tail launches, cudaMalloc in kernels. Build with -rdc=true.
#include <algorithm>
#include <numeric>

#include "verify.h"

// ---- Recursion: each thread of a block launches the next level (cdpSimplePrint).

__device__ int launched = 0;

__global__ void levels(int* depth_of, int depth, int deepest) {
  __shared__ int number;
  if (threadIdx.x == 0) {
    number = atomicAdd(&launched, 1);
    depth_of[number] = depth;
  }
  __syncthreads();
  if (depth + 1 >= deepest) return;
  levels<<<gridDim.x, blockDim.x>>>(depth_of, depth + 1, deepest);
}

// ---- Quicksort with a stream for each half (cdpSimpleQuicksort).

__device__ void selection_sort(unsigned* data, int left, int right) {
  for (int i = left; i <= right; ++i) {
    int smallest = i;
    for (int j = i + 1; j <= right; ++j) {
      if (data[j] < data[smallest]) smallest = j;
    }
    const unsigned value = data[i];
    data[i] = data[smallest];
    data[smallest] = value;
  }
}

__global__ void quicksort(unsigned* data, int left, int right, int depth) {
  if (depth >= 16 || right - left <= 32) return selection_sort(data, left, right);
  unsigned *l = data + left, *r = data + right;
  const unsigned pivot = data[(left + right) / 2];
  while (l <= r) {
    while (*l < pivot) ++l;
    while (*r > pivot) --r;
    if (l > r) break;
    const unsigned value = *l;
    *l++ = *r;
    *r-- = value;
  }
  const int new_right = static_cast<int>(r - data), new_left = static_cast<int>(l - data);
  if (left < new_right) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    quicksort<<<1, 1, 0, stream>>>(data, left, new_right, depth + 1);
    cudaStreamDestroy(stream);
  }
  if (new_left < right) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    quicksort<<<1, 1, 0, stream>>>(data, new_left, right, depth + 1);
    cudaStreamDestroy(stream);
  }
}

// ---- Lines of points, whose memory kernels allocate (cdpBezierTessellation).

struct Line {
  float2 control[3];
  float2* points;
  int count;
};

__global__ void tessellate(Line* line) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= line->count) return;
  const float u = static_cast<float>(i) / static_cast<float>(line->count - 1), v = 1 - u;
  const float b[3] = {v * v, 2 * u * v, u * u};
  float2 point = {0, 0};
  for (int k = 0; k < 3; ++k) {
    point.x += b[k] * line->control[k].x;
    point.y += b[k] * line->control[k].y;
  }
  line->points[i] = point;
}

__global__ void begin_lines(Line* lines, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  lines[i].count = 8 + i % 40;
  if (cudaMalloc(&lines[i].points, lines[i].count * sizeof(float2)) != cudaSuccess) return;
  tessellate<<<(lines[i].count + 31) / 32, 32>>>(&lines[i]);
}

__global__ void end_lines(Line* lines, float* ends, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  ends[i] = lines[i].points[lines[i].count - 1].x;
  cudaFree(lines[i].points);
}

// ---- A tree over points: blocks count, scan and launch a block for each quarter (cdpQuadtree).

struct Square {
  float x, y, size;
  int begin, end;
};

__global__ void quarter(const float2* from, float2* to, Square square, int depth, int* leaves) {
  __shared__ int counts[4], places[4];
  const int size = square.end - square.begin;
  if (size <= 16 || depth >= 6) {
    if (threadIdx.x == 0) atomicAdd(leaves, size);
    // The result lies in `to` in the end.
    if (depth % 2 == 0) {
      for (int i = threadIdx.x; i < size; i += blockDim.x) {
        to[square.begin + i] = from[square.begin + i];
      }
    }
    return;
  }
  if (threadIdx.x < 4) counts[threadIdx.x] = 0;
  __syncthreads();
  const float half = square.size / 2, x = square.x + half, y = square.y + half;
  const auto side = [&](const float2& p) { return (p.x >= x ? 1 : 0) + (p.y >= y ? 2 : 0); };
  for (int i = threadIdx.x; i < size; i += blockDim.x) {
    atomicAdd(&counts[side(from[square.begin + i])], 1);
  }
  __syncthreads();
  if (threadIdx.x < 4) {
    places[threadIdx.x] = square.begin;
    for (unsigned k = 0; k < threadIdx.x; ++k) places[threadIdx.x] += counts[k];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < size; i += blockDim.x) {
    const float2 p = from[square.begin + i];
    to[atomicAdd(&places[side(p)], 1)] = p;
  }
  __syncthreads();
  if (threadIdx.x < 4) {
    const int end = places[threadIdx.x], begin = end - counts[threadIdx.x];
    const Square child = {square.x + (threadIdx.x & 1 ? half : 0),
                          square.y + (threadIdx.x & 2 ? half : 0), half, begin, end};
    quarter<<<1, blockDim.x, 0, cudaStreamFireAndForget>>>(to, const_cast<float2*>(from), child,
                                                           depth + 1, leaves);
  }
}

// ---- Events order two streams; the tail stream follows all; refused launches leave an error.

__global__ void fill(int* data, int value) { data[threadIdx.x] = value; }
__global__ void add(const int* from, int* to) { to[threadIdx.x] += from[threadIdx.x]; }

__global__ void ordered(int* a, int* b, int* facts) {
  cudaStream_t s, t;
  cudaEvent_t event;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  add<<<1, 64, 0, cudaStreamTailLaunch>>>(b, a);
  fill<<<1, 64, 0, s>>>(a, 5);
  cudaEventRecord(event, s);
  cudaStreamWaitEvent(t, event, 0);
  fill<<<1, 64, 0, t>>>(b, 100);
  add<<<1, 64, 0, t>>>(a, b);
  cudaEventDestroy(event);
  fill<<<1, 2048>>>(a, 1);  // too many threads
  facts[0] = cudaGetLastError();
  facts[1] = cudaGetLastError();
  cudaGetDevice(&facts[2]);
  cudaDeviceGetAttribute(&facts[3], cudaDevAttrWarpSize, 0);
  const char* const name = cudaGetErrorName(cudaErrorInvalidValue);
  facts[4] = name[9];
  facts[5] = cudaStreamCreateWithFlags(&s, cudaStreamDefault);
}

__global__ void copies(unsigned char* data) {
  cudaMemsetAsync(data, 7, 1000, 0);
  cudaMemcpyAsync(data + 2000, data, 1000, cudaMemcpyDeviceToDevice, 0);
  cudaMemsetAsync(data, 9, 10, 0);
}

template <class T>
T* managed(size_t count) {
  T* memory;
  SUCCEED(cudaMallocManaged(&memory, count * sizeof(T)));
  std::fill_n(reinterpret_cast<char*>(memory), count * sizeof(T), 0);
  return memory;
}

void check_levels() {
  int* depth_of = managed<int>(1000);
  levels<<<2, 2>>>(depth_of, 0, 3);
  SUCCEED(cudaDeviceSynchronize());
  int counts[3] = {};
  // Every thread launches 2 blocks: 2, then 2 * 2 * 2, then 4 times as many.
  for (int i = 0; i < 2 + 8 + 32; ++i) ++counts[depth_of[i]];
  verify(counts[0] == 2 && counts[1] == 8 && counts[2] == 32, "levels", 3);
  SUCCEED(cudaFree(depth_of));
}

void check_quicksort(int size) {
  unsigned* data = managed<unsigned>(size);
  std::vector<unsigned> expected = random_values(size, 1);
  std::copy(expected.begin(), expected.end(), data);
  std::sort(expected.begin(), expected.end());
  quicksort<<<1, 1>>>(data, 0, size - 1, 0);
  SUCCEED(cudaDeviceSynchronize());
  verify(std::equal(expected.begin(), expected.end(), data), "quicksort", size);
  SUCCEED(cudaFree(data));
}

void check_lines(int count) {
  Line* lines = managed<Line>(count);
  float* ends = managed<float>(count);
  for (int i = 0; i < count; ++i) lines[i].control[2] = {static_cast<float>(i), 1};
  begin_lines<<<(count + 31) / 32, 32>>>(lines, count);
  end_lines<<<(count + 31) / 32, 32>>>(lines, ends, count);
  SUCCEED(cudaDeviceSynchronize());
  bool right = true;
  for (int i = 0; i < count; ++i) right &= ends[i] == static_cast<float>(i);
  verify(right, "lines", count);
  SUCCEED(cudaFree(lines));
  SUCCEED(cudaFree(ends));
}

void check_tree(int size) {
  float2 *points = managed<float2>(size), *other = managed<float2>(size);
  int* leaves = managed<int>(1);
  const std::vector<unsigned> random = random_values(2 * size, 2);
  double sum = 0, sorted_sum = 0;
  for (int i = 0; i < size; ++i) {
    points[i] = {static_cast<float>(random[2 * i] % 4096),
                 static_cast<float>(random[2 * i + 1] % 4096)};
    sum += points[i].x + 3 * points[i].y;
  }
  quarter<<<1, 64>>>(points, other, {0, 0, 4096, 0, size}, 0, leaves);
  SUCCEED(cudaDeviceSynchronize());
  for (int i = 0; i < size; ++i) sorted_sum += other[i].x + 3 * other[i].y;
  verify(*leaves == size && sum == sorted_sum, "tree", size);
  SUCCEED(cudaFree(points));
  SUCCEED(cudaFree(other));
  SUCCEED(cudaFree(leaves));
}

void check_ordered() {
  int *a = managed<int>(64), *b = managed<int>(64), *facts = managed<int>(6);
  ordered<<<1, 1>>>(a, b, facts);
  SUCCEED(cudaDeviceSynchronize());
  verify(a[7] == 110 && b[7] == 105, "streams and events", 64);
  verify(facts[0] == cudaErrorInvalidConfiguration && facts[1] == cudaSuccess, "refused launch",
         2048);
  verify(facts[2] == 0 && facts[3] == 32 && facts[4] == 'I', "facts of the device", 0);
  verify(facts[5] == cudaErrorInvalidValue, "flags of a stream", 0);
  for (void* memory : {a, b, facts}) SUCCEED(cudaFree(memory));
}

void check_copies() {
  unsigned char* data = managed<unsigned char>(3000);
  copies<<<1, 1>>>(data);
  SUCCEED(cudaDeviceSynchronize());
  verify(data[9] == 9 && data[10] == 7 && data[1000] == 0 && data[2000] == 7 && data[2999] == 7,
         "copies by kernels", 1000);
  SUCCEED(cudaFree(data));
}

int main() {
  check_copies();
  check_levels();
  check_quicksort(2000);
  check_lines(100);
  check_tree(3000);
  check_ordered();
  return exit_code();
}
