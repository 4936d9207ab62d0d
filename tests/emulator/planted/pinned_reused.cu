// The host refills a pinned buffer while the copy that reads it may still run.
#include "../planted.h"

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {// The copy of the step before may read the values of this one.
                   {"loop",
                    [] {
                      Buffer<int> x(256);
                      int* staged = nullptr;
                      CHECK(cudaMallocHost(&staged, 256 * sizeof(int)));
                      for (int step = 0; step < 3; ++step) {
                        for (int i = 0; i < 256; ++i) staged[i] = step + i;
                        CHECK(cudaMemcpyAsync(x, staged, 1024, cudaMemcpyHostToDevice));
                        // expect loop: stream-race
                      }
                      CHECK(cudaDeviceSynchronize());
                      CHECK(cudaFreeHost(staged));
                    }},
                   // The host waits for another stream.
                   {"other_stream", [] {
                      Buffer<int> x(256);
                      CHECK(cudaDeviceSynchronize());
                      cudaStream_t copies, other;
                      CHECK(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
                      CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
                      int* const staged = static_cast<int*>(std::calloc(256, sizeof(int)));
                      CHECK(cudaHostRegister(staged, 1024, cudaHostRegisterDefault));
                      CHECK(cudaMemcpyAsync(x, staged, 1024, cudaMemcpyHostToDevice, copies));
                      // expect other_stream: stream-race
                      CHECK(cudaStreamSynchronize(other));
                      staged[7] = 1;
                      CHECK(cudaDeviceSynchronize());
                      CHECK(cudaHostUnregister(staged));
                      std::free(staged);
                      CHECK(cudaStreamDestroy(copies));
                      CHECK(cudaStreamDestroy(other));
                    }}});
}
