#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <dlfcn.h>

#include <halfgrad/testing/kernel_library.h>
#include <halfgrad/testing/kernel_symbol.h>

// The enumerations of CUDA's headers: a function is called by the type that it was compiled with.
enum cudaError : unsigned;
enum cudaMemcpyKind : unsigned;

namespace halfgrad::testing {
namespace {

/// Addresses modulo 64 are the same in device memory: a misaligned array stays misaligned.
constexpr std::size_t kAlignment = 64;

/// The CUDA runtime that a library links. Its functions are found by name, so this file compiles
/// without CUDA's headers.
class CudaRuntime {
 public:
  CudaRuntime(void* library, const std::string& name) {
    find(malloc_, library, "cudaMalloc", name);
    find(free_, library, "cudaFree", name);
    find(copy_, library, "cudaMemcpy", name);
    find(synchronize_, library, "cudaDeviceSynchronize", name);
    find(last_error_, library, "cudaGetLastError", name);
    find(error_text_, library, "cudaGetErrorString", name);
  }

  void* allocate(std::size_t bytes) const {
    void* memory = nullptr;
    expect(malloc_(&memory, bytes), "cudaMalloc");
    return memory;
  }
  void free(void* memory) const noexcept { free_(memory); }
  void copy_to_device(void* to, const void* from, std::size_t bytes) const {
    constexpr cudaMemcpyKind kHostToDevice{1};
    expect(copy_(to, from, bytes, kHostToDevice), "cudaMemcpy to the device");
  }
  void copy_to_host(void* to, const void* from, std::size_t bytes) const {
    constexpr cudaMemcpyKind kDeviceToHost{2};
    expect(copy_(to, from, bytes, kDeviceToHost), "cudaMemcpy to the host");
  }
  void synchronize(const std::string& kernel) const {
    expect(last_error_(), kernel);
    expect(synchronize_(), kernel);
  }
  void forget_error() const { last_error_(); }

 private:
  template <class F>
  static void find(F& function, void* library, const char* symbol, const std::string& name) {
    function = reinterpret_cast<F>(dlsym(library, symbol));
    if (function != nullptr) return;
    throw std::runtime_error("load_cuda_kernel: expected a library that links the shared CUDA " +
                             std::string("runtime, got no ") + symbol + " in " + name +
                             "; link it with nvcc -cudart shared");
  }
  void expect(cudaError error, const std::string& what) const {
    if (error == cudaError{0}) return;
    last_error_();  // clears it
    throw std::runtime_error(what + ": " + error_text_(error));
  }

  cudaError (*malloc_)(void**, std::size_t) = nullptr;
  cudaError (*free_)(void*) = nullptr;
  cudaError (*copy_)(void*, const void*, std::size_t, cudaMemcpyKind) = nullptr;
  cudaError (*synchronize_)() = nullptr;
  cudaError (*last_error_)() = nullptr;
  const char* (*error_text_)(cudaError) = nullptr;
};

std::size_t extent_in_bytes(const Array& array) {
  if (array.numel() == 0) return 0;
  std::int64_t last = 0;
  for (int i = 0; i < array.ndim(); ++i) last += (array.sizes()[i] - 1) * array.strides()[i];
  return static_cast<std::size_t>((last + 1) * item_size(array.dtype()));
}

/// A host array in device memory, gaps between its rows included.
class DeviceCopy {
 public:
  DeviceCopy(const CudaRuntime& cuda, const Array& host)
      : host_(host.data()), bytes_(extent_in_bytes(host)) {
    const std::size_t before = reinterpret_cast<std::uintptr_t>(host_) % kAlignment;
    const std::size_t at_least_one = bytes_ == 0 ? 1 : bytes_;  // 0 bytes have no address
    memory_ = {cuda.allocate(before + at_least_one), [&cuda](void* memory) { cuda.free(memory); }};
    data_ = static_cast<std::byte*>(memory_.get()) + before;
    if (bytes_ != 0) cuda.copy_to_device(data_, host_, bytes_);
  }

  halfgrad_tensor tensor(const Array& array) const {
    halfgrad_tensor described = detail::to_abi(array);
    described.data = data_;
    return described;
  }
  void copy_back(const CudaRuntime& cuda) const {
    if (bytes_ != 0) cuda.copy_to_host(host_, data_, bytes_);
  }

 private:
  void* host_;
  std::size_t bytes_;
  std::shared_ptr<void> memory_;
  std::byte* data_ = nullptr;
};

}  // namespace

Kernel load_cuda_kernel(const std::string& library, const std::string& symbol) {
  const detail::KernelSymbol kernel = detail::load_symbol(library, symbol);
  const auto cuda = std::make_shared<const CudaRuntime>(kernel.library, library);
  return [kernel, cuda](const std::vector<Array>& inputs, const std::vector<Array>& outputs) {
    std::vector<DeviceCopy> copies;
    std::vector<halfgrad_tensor> tensors, results;
    for (const Array& input : inputs) {
      copies.emplace_back(*cuda, input);
      tensors.push_back(copies.back().tensor(input));
    }
    for (const Array& output : outputs) {
      const auto same = std::find_if(inputs.begin(), inputs.end(), [&](const Array& input) {
        return input.data() == output.data();  // in place
      });
      if (same == inputs.end()) copies.emplace_back(*cuda, output);
      const auto& copy = same == inputs.end()
                             ? copies.back()
                             : copies[static_cast<std::size_t>(same - inputs.begin())];
      results.push_back(copy.tensor(output));
    }
    const int code = kernel.function(tensors.data(), static_cast<std::int32_t>(tensors.size()),
                                     results.data(), nullptr);
    if (code != 0) cuda->forget_error();
    detail::expect_success(code, kernel.name, inputs, outputs);
    cuda->synchronize(kernel.name);
    for (const DeviceCopy& copy : copies) copy.copy_back(*cuda);
  };
}

}  // namespace halfgrad::testing
