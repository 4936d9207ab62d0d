#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>

#include <halfgrad/testing/kernel_library.h>
#include <halfgrad/testing/kernel_symbol.h>

// The types of CUDA's headers: a function is called by the type that it was compiled with.
enum cudaError : unsigned;       // NOLINT(readability-identifier-naming)
enum cudaMemcpyKind : unsigned;  // NOLINT(readability-identifier-naming)
struct CUstream_st;

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
    find(copy_on_, library, "cudaMemcpyAsync", name);
    find(fill_, library, "cudaMemset", name);
    find(create_, library, "cudaStreamCreateWithFlags", name);
    find(destroy_, library, "cudaStreamDestroy", name);
    find(synchronize_, library, "cudaStreamSynchronize", name);
    find(last_error_, library, "cudaGetLastError", name);
    find(error_text_, library, "cudaGetErrorString", name);
  }

  void* allocate(std::size_t bytes) const {
    void* memory = nullptr;
    expect(malloc_(&memory, bytes), "cudaMalloc");
    return memory;
  }
  void free(void* memory) const noexcept { free_(memory); }
  /// Copies on a stream, or for the default stream at once.
  void copy_to_device(void* to, const void* from, std::size_t bytes, CUstream_st* stream) const {
    constexpr cudaMemcpyKind kHostToDevice{1};
    expect(stream == nullptr ? copy_(to, from, bytes, kHostToDevice)
                             : copy_on_(to, from, bytes, kHostToDevice, stream),
           "cudaMemcpy to the device");
  }
  void copy_to_host(void* to, const void* from, std::size_t bytes) const {
    constexpr cudaMemcpyKind kDeviceToHost{2};
    expect(copy_(to, from, bytes, kDeviceToHost), "cudaMemcpy to the host");
  }
  void fill(void* memory, int byte, std::size_t bytes) const {
    expect(fill_(memory, byte, bytes), "cudaMemset");
  }
  /// A stream that does not wait for the default stream.
  CUstream_st* side_stream() const {
    constexpr unsigned kNonBlocking = 1;
    CUstream_st* stream = nullptr;
    expect(create_(&stream, kNonBlocking), "cudaStreamCreateWithFlags");
    return stream;
  }
  void destroy(CUstream_st* stream) const noexcept { destroy_(stream); }
  /// Waits for one stream only: a kernel that works on another one must wait for it itself.
  void synchronize(const std::string& kernel, CUstream_st* stream) const {
    expect(last_error_(), kernel);
    expect(synchronize_(stream), kernel);
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
  cudaError (*copy_on_)(void*, const void*, std::size_t, cudaMemcpyKind, CUstream_st*) = nullptr;
  cudaError (*fill_)(void*, int, std::size_t) = nullptr;
  cudaError (*create_)(CUstream_st**, unsigned) = nullptr;
  cudaError (*destroy_)(CUstream_st*) = nullptr;
  cudaError (*synchronize_)(CUstream_st*) = nullptr;
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
  }

  bool is_of(const Array& host) const {
    return host.data() == host_ && extent_in_bytes(host) == bytes_;
  }
  halfgrad_tensor tensor(const Array& array) const {
    halfgrad_tensor described = detail::to_abi(array);
    described.data = data_;
    return described;
  }
  void copy_to_device(const CudaRuntime& cuda, CUstream_st* stream) const {
    if (bytes_ != 0) cuda.copy_to_device(data_, host_, bytes_, stream);
  }
  /// Fills the copy with NaN, until the array arrives.
  void clear(const CudaRuntime& cuda) const {
    constexpr int kNan = 0xff;
    if (bytes_ != 0) cuda.fill(data_, kNan, bytes_);
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

using DeviceCopies = std::vector<DeviceCopy>;

/// Device copies of the arrays of the last calls. They stay where they are while the host arrays
/// do, so that a kernel meets other inputs in the same memory.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::shared_ptr<const CudaRuntime> cuda) : cuda_(std::move(cuda)) {}

  /// Returns copies of the arrays; an output that is also an input has one copy.
  const DeviceCopies& copies_of(const std::vector<Array>& inputs,
                                const std::vector<Array>& outputs) {
    std::vector<Array> arrays = inputs;
    for (const Array& output : outputs) {
      const bool in_place = std::any_of(inputs.begin(), inputs.end(), [&](const Array& input) {
        return input.data() == output.data();
      });
      if (!in_place) arrays.push_back(output);
    }
    const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const DeviceCopies& copies) {
      return std::equal(copies.begin(), copies.end(), arrays.begin(), arrays.end(),
                        [](const DeviceCopy& copy, const Array& a) { return copy.is_of(a); });
    });
    if (found != kept_.end()) return *found;
    constexpr std::size_t kSets = 2;  // repeated calls use two sets of arrays in turn
    if (kept_.size() == kSets) kept_.pop_front();
    DeviceCopies& made = kept_.emplace_back();
    for (const Array& array : arrays) made.emplace_back(*cuda_, array);
    return made;
  }

 private:
  std::shared_ptr<const CudaRuntime> cuda_;  // destroyed after the copies
  std::deque<DeviceCopies> kept_;
};

/// The stream of a call. Every second one is a side stream on which the inputs arrive, later than
/// the call for all that the kernel knows: a kernel that works on another stream reads memory that
/// is not there yet.
class CallStream {
 public:
  explicit CallStream(std::shared_ptr<const CudaRuntime> cuda) : cuda_(std::move(cuda)) {}
  ~CallStream() {
    if (side_ != nullptr) cuda_->destroy(side_);
  }
  CallStream(const CallStream&) = delete;
  CallStream& operator=(const CallStream&) = delete;

  CUstream_st* next() {
    if (++calls_ % 2 == 1) return nullptr;
    if (side_ == nullptr) side_ = cuda_->side_stream();
    return side_;
  }

 private:
  std::shared_ptr<const CudaRuntime> cuda_;
  CUstream_st* side_ = nullptr;
  int calls_ = 0;
};

halfgrad_tensor tensor_in(const DeviceCopies& copies, const Array& array) {
  const auto copy = std::find_if(copies.begin(), copies.end(),
                                 [&](const DeviceCopy& each) { return each.is_of(array); });
  return copy->tensor(array);
}

}  // namespace

Kernel load_cuda_kernel(const std::string& library, const std::string& symbol) {
  const detail::KernelSymbol kernel = detail::load_symbol(library, symbol);
  const auto cuda = std::make_shared<const CudaRuntime>(kernel.library, library);
  const auto memory = std::make_shared<DeviceMemory>(cuda);
  const auto streams = std::make_shared<CallStream>(cuda);
  return [=](const std::vector<Array>& inputs, const std::vector<Array>& outputs) {
    const DeviceCopies& copies = memory->copies_of(inputs, outputs);
    CUstream_st* const stream = streams->next();
    for (const DeviceCopy& copy : copies) {
      if (stream != nullptr) copy.clear(*cuda);
    }
    if (stream != nullptr) cuda->synchronize(kernel.name, nullptr);
    for (const DeviceCopy& copy : copies) copy.copy_to_device(*cuda, stream);
    std::vector<halfgrad_tensor> tensors, results;
    for (const Array& input : inputs) tensors.push_back(tensor_in(copies, input));
    for (const Array& output : outputs) results.push_back(tensor_in(copies, output));
    const int code = kernel.function(tensors.data(), static_cast<std::int32_t>(tensors.size()),
                                     results.data(), stream);
    if (code != 0) cuda->forget_error();
    detail::expect_success(code, kernel.name, inputs, outputs);
    cuda->synchronize(kernel.name, stream);
    for (const DeviceCopy& copy : copies) copy.copy_back(*cuda);
  };
}

}  // namespace halfgrad::testing
