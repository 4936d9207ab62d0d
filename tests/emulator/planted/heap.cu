// Memory of malloc in kernels, used wrongly.
#include "../planted.h"

struct Node {
  int value;
  Node* next;
};

__global__ void sum_list(int* out, int n) {
  Node* head = nullptr;
  for (int i = 0; i < n; ++i) head = new Node{i, head};
  int sum = 0;
  for (Node* node = head; node != nullptr;
       node = node->next) {  // expect list_freed: use-after-free
    sum += node->value;
    delete node;
  }
  *out = sum;
}

__global__ void square(const int* x, int* y, int n) {
  int* work = static_cast<int*>(malloc(n * sizeof(int)));
  for (int i = 0; i < n; ++i) work[i] = x[i] * x[i];
  free(work);
  for (int i = 0; i < n; ++i) y[i] = work[n - 1 - i];  // expect freed_read: use-after-free
}

__global__ void prefix(const int* x, int* y, int n) {
  int* work = static_cast<int*>(malloc(n * sizeof(int)));
  int* other = static_cast<int*>(malloc(n * sizeof(int)));
  work[0] = other[0] = 0;
  for (int i = 0; i < n; ++i) work[i + 1] = work[i] + x[i];  // expect past_end: out-of-bounds
  for (int i = 0; i < n; ++i) y[i] = work[i] + other[0];
  free(work);
  free(other);
}

__global__ void before(int* y, int n) {
  int* work = new int[n];
  for (int i = n; i >= 0; --i) work[i - 1] = i;  // expect before_begin: out-of-bounds
  *y = work[0];
  delete[] work;
}

__global__ void twice(int* y) {
  int* work = static_cast<int*>(malloc(64));
  *work = threadIdx.x;
  *y = *work;
  free(work);
  if (*y == 0) free(work);  // expect freed_twice: invalid-call
}

__global__ void middle(int* y) {
  int* work = static_cast<int*>(malloc(64));
  for (int i = 0; i < 4; ++i) *work++ = i;
  *y = work[-1];
  free(work);  // expect freed_middle: invalid-call
}

__global__ void shared_list(int* out) {
  __shared__ int* work;
  if (threadIdx.x == 0) work = static_cast<int*>(malloc(blockDim.x * sizeof(int)));
  __syncthreads();
  work[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) free(work);
  __syncthreads();
  out[threadIdx.x] = work[threadIdx.x ^ 1];  // expect freed_by_other: use-after-free
}

__device__ int* kept;
__global__ void make() {
  kept = static_cast<int*>(malloc(256));
  for (int i = 0; i < 64; ++i) kept[i] = i;
}
__global__ void drop() { free(kept); }
__global__ void use(int* out) {
  out[threadIdx.x] = kept[threadIdx.x];  // expect freed_in_kernel_before: use-after-free
}

__global__ void no_barrier(int* out) {
  __shared__ int* work;
  if (threadIdx.x == 0) {
    work = static_cast<int*>(malloc(blockDim.x * sizeof(int)));
    for (int i = 0; i < blockDim.x; ++i) work[i] = i;
  }
  __syncthreads();
  out[threadIdx.x] = work[threadIdx.x];  // expect freed_no_barrier: race
  if (threadIdx.x == 0) free(work);      // expect freed_no_barrier: race
}

__global__ void unwritten(int* out, int n) {
  int* work = static_cast<int*>(malloc(n * sizeof(int)));
  for (int i = 0; i < n; i += 2) work[i] = i;
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += work[i];  // expect unwritten: uninitialised
  *out = sum;
  free(work);
}

__global__ void unchecked(int* out, size_t bytes) {
  int* work = static_cast<int*>(malloc(bytes));
  work[threadIdx.x] = 1;  // expect heap_full: out-of-bounds
  out[threadIdx.x] = work[threadIdx.x];
}

void freed_by_host() {
  make<<<1, 1>>>();
  int* pointer = nullptr;
  CHECK(cudaMemcpyFromSymbol(&pointer, kept, sizeof pointer));
  cudaFree(pointer);  // expect freed_by_host: invalid-call
}

void copied_by_host() {
  make<<<1, 1>>>();
  int *pointer = nullptr, value = 0;
  CHECK(cudaMemcpyFromSymbol(&pointer, kept, sizeof pointer));
  const auto error = cudaMemcpy(&value, pointer, 4, cudaMemcpyDefault);
  // expect copied_by_host: note-invalid-call
  if (error != cudaErrorInvalidValue) std::exit(3);
}

template <class Kernel, class... Arguments>
void run(int threads, Kernel kernel, Arguments... arguments) {
  kernel<<<1, threads>>>(arguments...);
  finish();
}

void run_three() {
  Buffer<int> out(64);
  make<<<1, 1>>>();
  drop<<<1, 1>>>();
  run(64, use, out.data);
}

int main(int count, char** arguments) {
  static Buffer<int>* const x = count < 2 ? nullptr : new Buffer<int>(64);
  static Buffer<int>* const y = count < 2 ? nullptr : new Buffer<int>(64);
  const int code = run_case(count, arguments,
                            {{"list_freed", [] { run(1, sum_list, y->data, 5); }},
                             {"freed_read", [] { run(1, square, x->data, y->data, 10); }},
                             {"past_end", [] { run(1, prefix, x->data, y->data, 12); }},
                             {"before_begin", [] { run(1, before, y->data, 12); }},
                             {"freed_twice", [] { run(1, twice, y->data); }},
                             {"freed_middle", [] { run(1, middle, y->data); }},
                             {"freed_by_other", [] { run(64, shared_list, y->data); }},
                             {"freed_in_kernel_before", run_three},
                             {"freed_by_host", freed_by_host},
                             {"copied_by_host", copied_by_host},
                             {"freed_no_barrier", [] { run(64, no_barrier, y->data); }},
                             {"unwritten", [] { run(1, unwritten, y->data, 10); }},
                             {"heap_full", [] { run(32, unchecked, y->data, size_t{1} << 30); }}});
  delete x;
  delete y;
  return code;
}
