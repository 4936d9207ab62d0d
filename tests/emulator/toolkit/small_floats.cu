// Functions of cuda_fp16.h, cuda_bf16.h and cuda_fp8.h over all 65536 bit patterns, against the
// same headers' host code where it has them, otherwise against double.
#include "verify.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cmath>
#include <cstring>

namespace {

constexpr int kPatterns = 65536;
constexpr int kResults = 16;

struct Results {
  unsigned value[kResults];
};

template <class T>
__host__ __device__ T from_bits(unsigned bits) {
  unsigned short half = static_cast<unsigned short>(bits);
  T value;
  memcpy(&value, &half, 2);
  return value;
}

template <class T>
__host__ __device__ unsigned to_bits(T value) {
  unsigned short half;
  memcpy(&half, &value, 2);
  return half;
}

// Functions with host and device versions that must agree bit for bit.
template <class T>
__host__ __device__ Results both(unsigned bits) {
  const T a = from_bits<T>(bits), b = from_bits<T>((bits * 40503u + 77u) & 0xffff);
  Results r = {};
  r.value[0] = to_bits(a + b);
  r.value[1] = to_bits(a * b);
  r.value[2] = to_bits(a - b);
  r.value[3] = to_bits(a / b);
  r.value[5] = unsigned(a < b) | unsigned(a == b) << 1 | unsigned(__hneu(a, b)) << 2;
  r.value[6] = to_bits(__hmax(a, b));
  r.value[7] = to_bits(__hmin(a, b));
  r.value[8] = to_bits(__habs(a));
  r.value[9] = to_bits(-a);
  return r;
}

__host__ __device__ Results conversions(unsigned bits) {
  Results r = {};
  const __half h = from_bits<__half>(bits);
  const __nv_bfloat16 b = from_bits<__nv_bfloat16>(bits);
  r.value[0] = __nv_cvt_halfraw_to_fp8(h, __NV_SATFINITE, __NV_E4M3);
  r.value[1] = __nv_cvt_halfraw_to_fp8(h, __NV_NOSAT, __NV_E5M2);
  r.value[2] = __nv_cvt_bfloat16raw_to_fp8(b, __NV_SATFINITE, __NV_E4M3);
  r.value[3] = __nv_cvt_fp8_to_halfraw(bits & 0xff, __NV_E4M3).x;
  r.value[4] = __nv_cvt_fp8_to_halfraw(bits & 0xff, __NV_E5M2).x;
  r.value[6] = unsigned(__half2int_rz(h));
  r.value[7] = to_bits(__float2half_rn(__bfloat162float(b)));
  r.value[8] = to_bits(__float2bfloat16_rn(__half2float(h)));
  r.value[9] = to_bits(__int2half_rn(int(bits * 3)));
  r.value[10] = to_bits(__float2half_ru(__bfloat162float(b)));
  r.value[11] = to_bits(__float2half_rz(__bfloat162float(b)));
  return r;
}

template <Results (*F)(unsigned)>
__global__ void run(Results* out) {
  const unsigned bits = blockIdx.x * blockDim.x + threadIdx.x;
  out[bits] = F(bits);
}

bool is_nan(unsigned bits, bool half) {
  return half ? (bits & 0x7fff) > 0x7c00 : (bits & 0x7fff) > 0x7f80;
}

template <Results (*F)(unsigned)>
void compare(const char* name, int nan_of) {
  std::vector<Results> got(kPatterns);
  Results* device;
  SUCCEED(cudaMalloc(&device, kPatterns * sizeof(Results)));
  run<F><<<kPatterns / 256, 256>>>(device);
  SUCCEED(cudaMemcpy(got.data(), device, kPatterns * sizeof(Results), cudaMemcpyDeviceToHost));
  SUCCEED(cudaFree(device));
  int shown = 0;
  for (unsigned bits = 0; bits < kPatterns; ++bits) {
    const Results expected = F(bits);
    for (int i = 0; i < kResults; ++i) {
      const unsigned a = got[bits].value[i], b = expected.value[i];
      if (a == b) continue;
      if (nan_of >= 0 && is_nan(a, nan_of) && is_nan(b, nan_of)) continue;
      ++failures;
      if (shown++ < 8) std::printf("WRONG: %s %d of %04x: %08x, host %08x\n", name, i, bits, a, b);
    }
  }
}

struct Functions {
  float value[6];
};

__global__ void half_functions(Functions* out) {
  const unsigned bits = blockIdx.x * blockDim.x + threadIdx.x;
  const __half h = from_bits<__half>(bits);
  out[bits] = {{__half2float(hexp(h)), __half2float(hlog(h)), __half2float(hsqrt(h)),
                __half2float(hsin(h)), __half2float(hrcp(h)), __half2float(htanh(h))}};
}

void compare_functions() {
  std::vector<Functions> got(kPatterns);
  Functions* device;
  SUCCEED(cudaMalloc(&device, kPatterns * sizeof(Functions)));
  half_functions<<<kPatterns / 256, 256>>>(device);
  SUCCEED(cudaMemcpy(got.data(), device, kPatterns * sizeof(Functions), cudaMemcpyDeviceToHost));
  SUCCEED(cudaFree(device));
  const char* names[] = {"hexp", "hlog", "hsqrt", "hsin", "hrcp", "htanh"};
  for (unsigned bits = 0; bits < kPatterns; ++bits) {
    const double x = __half2float(from_bits<__half>(bits));
    const double exact[] = {std::exp(x), std::log(x), std::sqrt(x),
                            std::sin(x), 1 / x,       std::tanh(x)};
    for (int i = 0; i < 6; ++i) {
      const double wanted = __half2float(__double2half(exact[i])), is = got[bits].value[i];
      const bool close = std::isnan(wanted) ? std::isnan(is)
                                            : is == wanted || std::fabs(is - wanted) <=
                                                                  std::fabs(wanted) * 0.002 + 6e-8;
      if (!close && failures < 20) std::printf("%s(%g) = %g, not %g\n", names[i], x, is, wanted);
      if (!close) ++failures;
    }
  }
}

}  // namespace

int main() {
  compare<both<__half>>("half", 1);
  compare<both<__nv_bfloat16>>("bfloat16", 0);
  compare<conversions>("conversions", 1);
  compare_functions();
  return exit_code();
}
