// A workspace that two handles use one after the other, and two that they use at the same time.
// Links: cublas
#include <cublas_v2.h>

#include "../right.h"

constexpr int kSize = 16, kWorkspace = 1 << 16;

struct Handle {
  cublasHandle_t handle;
  cudaStream_t stream;
  Buffer<float> a{kSize * kSize}, c{kSize * kSize};
  Handle() {
    EXPECT(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    upload<float>(a, std::vector<float>(kSize * kSize, 1));
  }
  ~Handle() {
    cublasDestroy(handle);
    cudaStreamDestroy(stream);
  }
  void use(void* workspace) {
    EXPECT(cublasSetStream(handle, stream) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasSetWorkspace(handle, workspace, kWorkspace) == CUBLAS_STATUS_SUCCESS);
  }
  void square() {
    const float one = 1, zero = 0;
    const cublasOperation_t plain = CUBLAS_OP_N;
    EXPECT(cublasSgemm(handle, plain, plain, kSize, kSize, kSize, &one, a, kSize, a, kSize, &zero,
                       c, kSize) == CUBLAS_STATUS_SUCCESS);
  }
};

int main() {
  Handle first, second;
  Buffer<char> workspace(kWorkspace), other(kWorkspace);
  cudaEvent_t done;
  CHECK(cudaEventCreate(&done));
  CHECK(cudaDeviceSynchronize());

  first.use(workspace);
  second.use(other);
  first.square();
  second.square();
  CHECK(cudaDeviceSynchronize());

  second.use(workspace);
  first.square();
  CHECK(cudaEventRecord(done, first.stream));
  CHECK(cudaStreamWaitEvent(second.stream, done, 0));
  second.square();
  CHECK(cudaDeviceSynchronize());

  // Setting the stream takes the workspace away.
  EXPECT(cublasSetStream(second.handle, second.stream) == CUBLAS_STATUS_SUCCESS);
  first.square();
  second.square();
  settle();
  EXPECT(values<float>(second.c, kSize)[3] == kSize);
  CHECK(cudaEventDestroy(done));
}
