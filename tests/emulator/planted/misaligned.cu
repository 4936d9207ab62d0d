// Addresses that are no multiple of what the instruction needs.
#include <cuda_fp16.h>

#include "../planted.h"

#pragma pack(push, 1)
struct Record {
  char tag;
  int value;
};
#pragma pack(pop)

__global__ void header(const unsigned char* packet, unsigned* out) {
  out[threadIdx.x] =
      *reinterpret_cast<const unsigned*>(packet + 14 + threadIdx.x);  // expect packet: misaligned
}

__global__ void count_bytes(unsigned char* counters, int stride) {
  unsigned long long* counter =
      reinterpret_cast<unsigned long long*>(counters + threadIdx.x * stride);
  atomicAdd(counter, 1ull);  // expect atomic_64: misaligned
}

__global__ void add_pairs(const float* x, float* y) {
  __shared__ float tile[65];
  tile[threadIdx.x] = x[threadIdx.x];
  if (threadIdx.x == 0) tile[64] = 0;
  __syncthreads();
  const float2 pair =
      *reinterpret_cast<const float2*>(&tile[threadIdx.x]);  // expect shared_pairs: misaligned
  y[threadIdx.x] = pair.x + pair.y;
}

__global__ void after_flags(const int4* x, int4* y, int flags) {
  extern __shared__ int memory[];
  int4* tile = reinterpret_cast<int4*>(memory + flags);
  tile[threadIdx.x] = x[threadIdx.x];  // expect dynamic_vector: misaligned
  __syncthreads();
  y[threadIdx.x] = tile[31 - threadIdx.x];
}

__global__ void async_16(const float* x, float* y, int shift) {
  __shared__ alignas(16) float tile[128];
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(tile + 4 * threadIdx.x));
  const float* from = x + 4 * threadIdx.x + shift;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),
               "l"(from));  // expect async_source: misaligned
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];
}

__global__ void async_padded(const float* x, float* y, int pad) {
  __shared__ alignas(16) float tile[256];
  const unsigned to =
      static_cast<unsigned>(__cvta_generic_to_shared(tile + (4 + pad) * threadIdx.x));
  const float* from = x + 4 * threadIdx.x;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to),
               "l"(from));  // expect async_target: misaligned
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x * 5];
}

__global__ void bytes_of(const int* x, int* y, int shift) {
  char bytes[16];
  for (int i = 0; i < 16; ++i) bytes[i] = static_cast<char>(x[i % 4] >> i);
  bytes[x[0] & 15] = 1;
  y[threadIdx.x] = *reinterpret_cast<int*>(bytes + shift);  // expect local_word: misaligned
}

__global__ void halves(__half* x, int column) {
  __half2* pair = reinterpret_cast<__half2*>(x + threadIdx.x * 4 + column);
  *pair = __float2half2_rn(1.0f);  // expect half_pair: misaligned
}

__constant__ unsigned char packed[64];
__global__ void constants(short* y) {
  y[threadIdx.x] =
      *reinterpret_cast<const short*>(packed + 3 * threadIdx.x);  // expect constant: misaligned
}

__global__ void records(Record* x) {
  int* value = &x[threadIdx.x].value;
  atomicMax(value, 3);  // expect packed_record: misaligned
}

__global__ void exchange(int* words, int* y) {
  __shared__ alignas(8) int slots[66];
  slots[threadIdx.x] = slots[threadIdx.x + 33] = 0;
  __syncthreads();
  unsigned long long* both = reinterpret_cast<unsigned long long*>(slots + 2 * threadIdx.x + 1);
  y[threadIdx.x] = static_cast<int>(atomicExch(both, 5ull));  // expect shared_atomic: misaligned
}

template <class Kernel, class... Arguments>
void run(Kernel kernel, std::size_t shared, Arguments... arguments) {
  kernel<<<1, 32, shared>>>(arguments...);
  finish();
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"packet",
                    [] {
                      Buffer<unsigned char> x(128);
                      Buffer<unsigned> y(32);
                      run(header, 0, x.data, y.data);
                    }},
                   {"atomic_64",
                    [] {
                      Buffer<unsigned char> x(512);
                      run(count_bytes, 0, x.data, 12);
                    }},
                   {"shared_pairs",
                    [] {
                      Buffer<float> x(64), y(64);
                      run(add_pairs, 0, x.data, y.data);
                    }},
                   {"dynamic_vector",
                    [] {
                      Buffer<int4> x(32), y(32);
                      run(after_flags, 1024, x.data, y.data, 2);
                    }},
                   {"async_source",
                    [] {
                      Buffer<float> x(256), y(32);
                      run(async_16, 0, x.data, y.data, 1);
                    }},
                   {"async_target",
                    [] {
                      Buffer<float> x(256), y(32);
                      run(async_padded, 0, x.data, y.data, 1);
                    }},
                   {"local_word",
                    [] {
                      Buffer<int> x(4), y(32);
                      run(bytes_of, 0, x.data, y.data, 3);
                    }},
                   {"half_pair",
                    [] {
                      Buffer<__half> x(256);
                      run(halves, 0, x.data, 1);
                    }},
                   {"constant",
                    [] {
                      Buffer<short> y(32);
                      constants<<<1, 16>>>(y);
                      finish();
                    }},
                   {"packed_record",
                    [] {
                      Buffer<Record> x(32);
                      run(records, 0, x.data);
                    }},
                   {"shared_atomic", [] {
                      Buffer<int> x(32), y(32);
                      run(exchange, 0, x.data, y.data);
                    }}});
}
