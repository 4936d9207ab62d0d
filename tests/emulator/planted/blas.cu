// Products whose arguments do not fit the matrices. Links: cublas
#include <cublas_v2.h>

#include "../planted.h"

struct Product {
  cublasHandle_t handle;
  Buffer<float> a{16 * 8}, b{8 * 4}, c{16 * 4};
  float one = 1, zero = 0;
  Product() { cublasCreate(&handle); }
  ~Product() {
    finish();
    cublasDestroy(handle);
  }
  cublasStatus_t run(int m, int n, int k, const float* x, int ldx, const float* y, int ldy, int ldz,
                     cublasOperation_t operation = CUBLAS_OP_N) {
    return cublasSgemm(handle, operation, CUBLAS_OP_N, m, n, k, &one, x, ldx, y, ldy, &zero, c,
                       ldz);
  }
};

void columns() {
  Product p;
  p.run(16, 8, 8, p.a, 16, p.b, 8, 16);  // expect columns: out-of-bounds
}

void inner_dimension() {
  Product p;
  p.run(16, 4, 16, p.a, 16, p.b, 16, 16);  // expect inner_dimension: out-of-bounds
}

void output_pitch() {
  Product p;
  p.run(16, 4, 8, p.a, 8, p.b, 8, 20, CUBLAS_OP_T);  // expect output_pitch: out-of-bounds
}

void host_matrix() {
  Product p;
  const float a[128] = {};
  p.run(16, 4, 8, a, 16, p.b, 8, 16);  // expect host_matrix: out-of-bounds
}

void freed_matrix() {
  Product p;
  float* b = nullptr;
  CHECK(cudaMalloc(&b, 32 * sizeof(float)));
  CHECK(cudaMemset(b, 0, 32 * sizeof(float)));
  CHECK(cudaFree(b));
  p.run(16, 4, 8, p.a, 16, b, 8, 16);  // expect freed_matrix: use-after-free
}

void batch_stride() {
  Product p;
  const int n = 4, stride = 16, batches = 4;
  const cublasOperation_t plain = CUBLAS_OP_N;
  const float *one = &p.one, *zero = &p.zero;
  const auto multiply = [&](int stride_x) {
    cublasSgemmStridedBatched(p.handle, plain, plain, n, n, n, one, p.a, n, stride_x, p.b, n,
                              stride, zero, p.c, n, stride, batches);
  };
  multiply(2 * stride);  // expect batch_stride: out-of-bounds
}

void vector_too_long() {
  Product p;
  float sum = 0;
  cublasSdot(p.handle, 64, p.a, 2, p.c, 2, &sum);  // expect vector_too_long: out-of-bounds
}

void other_stream() {
  Product p;
  CHECK(cudaDeviceSynchronize());
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cublasSetStream(p.handle, stream);
  p.run(16, 4, 8, p.a, 16, p.b, 8, 16);
  CHECK(cudaMemsetAsync(p.c, 0, 64, nullptr));  // expect other_stream: stream-race
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaStreamDestroy(stream));
}

void workspace_shared() {
  Product p, q;
  Buffer<char> workspace(1 << 16);
  cudaStream_t first, second;
  CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  cublasSetStream(p.handle, first);
  cublasSetStream(q.handle, second);
  cublasSetWorkspace(p.handle, workspace, 1 << 16);
  cublasSetWorkspace(q.handle, workspace, 1 << 16);
  CHECK(cudaDeviceSynchronize());
  p.run(16, 4, 8, p.a, 16, p.b, 8, 16);
  q.run(16, 4, 8, q.a, 16, q.b, 8, 16);  // expect workspace_shared: stream-race
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaStreamDestroy(first));
  CHECK(cudaStreamDestroy(second));
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"columns", columns},
                   {"inner_dimension", inner_dimension},
                   {"output_pitch", output_pitch},
                   {"host_matrix", host_matrix},
                   {"freed_matrix", freed_matrix},
                   {"batch_stride", batch_stride},
                   {"vector_too_long", vector_too_long},
                   {"workspace_shared", workspace_shared},
                   {"other_stream", other_stream}});
}
