// Copies and fills on GPUs. Both are bounded by memory: a conversion reads and writes every element
// once, in 128-bit accesses if source and target are contiguous and aligned.

#include <halfgrad/core/cuda/kernels/copy.h>

#include <cstring>
#include <stdexcept>

#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/engines/load_store.h>
#include <halfgrad/core/cuda/runtime/runtime.h>
#include <halfgrad/core/engines/element_view.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::detail {
namespace {

constexpr int kThreads = 256;

__device__ std::int64_t thread_index() {
  return static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
}

template <class T>
__global__ void convert_dense(StridedView target, StridedView source, std::int64_t n) {
  const std::int64_t at = thread_index() * kPerThread;
  if (at + kPerThread <= n) {
    T values[kPerThread];
    load_pack(source.data, source.dtype, at, values);
    store_pack(target.data, target.dtype, at, values);
    return;
  }
  for (std::int64_t i = at; i < n; ++i) target.store(i, source.load<T>(i));
}

template <class T>
__global__ void convert_strided(StridedView target, StridedView source, std::int64_t n) {
  const std::int64_t i = thread_index();
  if (i < n) target.store(i, source.load<T>(i));
}

template <class T>
void launch_conversion(const Launch& launch, const StridedView& target, const StridedView& source,
                       std::int64_t n) {
  if (target.in_packs() && source.in_packs()) {
    const unsigned blocks = blocks_for(n, kThreads * kPerThread);
    convert_dense<T><<<blocks, kThreads, 0, launch.stream()>>>(target, source, n);
  } else {
    const unsigned blocks = blocks_for(n, kThreads);
    convert_strided<T><<<blocks, kThreads, 0, launch.stream()>>>(target, source, n);
  }
  launch.check();
}

// Bits is an unsigned integer of an element's size: copies between equal dtypes and fills need no
// arithmetic.
template <class Bits>
__global__ void copy_strided(StridedView target, StridedView source, std::int64_t n) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  reinterpret_cast<Bits*>(target.data)[target.offset(i)] =
      reinterpret_cast<const Bits*>(source.data)[source.offset(i)];
}

template <class Bits>
__global__ void fill_strided(StridedView target, Bits bits, std::int64_t n) {
  const std::int64_t i = thread_index();
  if (i < n) reinterpret_cast<Bits*>(target.data)[target.offset(i)] = bits;
}

template <class Bits>
void launch_fill(const Launch& launch, const Array& target, const std::byte* value) {
  Bits bits;
  std::memcpy(&bits, value, sizeof(Bits));
  const std::int64_t n = target.numel();
  if (bits == 0 && target.is_contiguous()) {
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(Bits);
    launch.check(cudaMemsetAsync(target.data(), 0, bytes, launch.stream()), "cudaMemsetAsync");
    return;
  }
  const StridedView view(target, target.sizes());
  fill_strided<<<blocks_for(n, kThreads), kThreads, 0, launch.stream()>>>(view, bits, n);
  launch.check();
}

// A replay copies to or from the address of the capture. Only pinned memory of our allocator is
// known to be valid then.
void expect_pinned_if_captured(const Array& on_host, const Stream& stream, const char* fix) {
  if (!on_host.is_pinned() && runtime::is_capturing(stream.device().index(), stream.native())) {
    fail<std::runtime_error>(
        "copy", "expected pinned memory while a graph is captured, got other; {}", fix);
  }
}

// Returns whether host memory that is not our pinned memory is pageable. The driver stages pageable
// memory, so it has been read when cudaMemcpyAsync returns.
bool is_pageable(const Array& on_host, const Launch& launch) {
  if (on_host.storage()->block().owner != nullptr) return true;
  cudaPointerAttributes attributes{};
  launch.check(cudaPointerGetAttributes(&attributes, on_host.data()), "cudaPointerGetAttributes");
  return attributes.type == cudaMemoryTypeUnregistered;
}

void copy_from_host(const Array& target, const Array& source, std::size_t bytes) {
  const Launch launch(target, "copy");
  const Stream stream = current_stream(target.device());
  expect_pinned_if_captured(source, stream, "call pin_memory()");
  launch.check(
      cudaMemcpyAsync(target.data(), source.data(), bytes, cudaMemcpyHostToDevice, launch.stream()),
      "cudaMemcpyAsync");
  if (source.is_pinned()) {
    source.record_stream(stream);
  } else if (!is_pageable(source, launch)) {
    wait_for(stream, "copy");  // its owner may free it when the array is destroyed
  }
}

void copy_to_host(const Array& target, const Array& source, std::size_t bytes) {
  const Launch launch(source, "copy");
  const Stream stream = current_stream(source.device());
  expect_pinned_if_captured(target, stream,
                            "read a value, as item() and to(kCPU) do, after the replay");
  launch.check(
      cudaMemcpyAsync(target.data(), source.data(), bytes, cudaMemcpyDeviceToHost, launch.stream()),
      "cudaMemcpyAsync");
  if (target.is_pinned()) {
    target.record_stream(stream);
  } else {
    wait_for(stream, "copy");
  }
}

// Copies on the source's stream, after the work that the target's stream has so far. Later work of
// the target's stream waits for the copy.
void copy_to_peer(const Array& target, const Array& source, std::size_t bytes) {
  const Launch launch(source, "copy");
  const Stream from = current_stream(source.device());
  const Stream to = current_stream(target.device());
  from.wait_stream(to);
  launch.check(cudaMemcpyPeerAsync(target.data(), target.device().index(), source.data(),
                                   source.device().index(), bytes, launch.stream()),
               "cudaMemcpyPeerAsync");
  to.wait_stream(from);
}

void copy_on_device(const Array& target, const Array& source, std::size_t bytes) {
  const std::byte *const to = target.data(), *const from = source.data();
  if (to == from) return;
  if (to < from + bytes && from < to + bytes) return copy_on_device(target, source.clone(), bytes);
  const Launch launch(target, "copy");
  launch.check(cudaMemcpyAsync(target.data(), source.data(), bytes, cudaMemcpyDeviceToDevice,
                               launch.stream()),
               "cudaMemcpyAsync");
}

}  // namespace

void transfer(const Array& target, const Array& source, std::size_t bytes) {
  if (source.device().is_cpu()) {
    copy_from_host(target, source, bytes);
  } else if (target.device().is_cpu()) {
    copy_to_host(target, source, bytes);
  } else if (target.device() == source.device()) {
    copy_on_device(target, source, bytes);
  } else {
    copy_to_peer(target, source, bytes);
  }
}

void copy_on_cuda(const Array& target, const Array& source) {
  const Launch launch(target, "copy");
  const StridedView to(target, target.sizes());
  const StridedView from(source, target.sizes());
  if (source.dtype() == target.dtype()) {
    visit_bits(source.dtype(), [&](auto tag) {
      using Bits = typename decltype(tag)::type;
      const std::int64_t n = target.numel();
      copy_strided<Bits><<<blocks_for(n, kThreads), kThreads, 0, launch.stream()>>>(to, from, n);
    });
    launch.check();
  } else if (source.dtype() == DType::f64) {
    launch_conversion<double>(launch, to, from, target.numel());
  } else if (is_floating_point(source.dtype())) {
    launch_conversion<float>(launch, to, from, target.numel());
  } else {
    launch_conversion<std::int64_t>(launch, to, from, target.numel());
  }
}

void fill_on_cuda(const Array& target, const Array& value) {
  const Launch launch(target, "fill");
  visit_bits(target.dtype(), [&](auto tag) {
    launch_fill<typename decltype(tag)::type>(launch, target, value.data());
  });
}

}  // namespace halfgrad::detail
