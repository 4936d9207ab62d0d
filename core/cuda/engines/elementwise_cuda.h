#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/engines/load_store.h>
#include <halfgrad/core/cuda/engines/pack_view.h>
#include <halfgrad/core/engines/elementwise.h>

/// The elementwise engine on a GPU. It is bounded by memory: every input is read once and the
/// output written once, in 128-bit accesses if all strides and alignments allow them, else one
/// element a thread.
namespace halfgrad::detail {

/// A functor with `static constexpr bool rare = true`: a second derivative, which few programs
/// compute. It has no kernel for packs, which saves code.
template <class F>
concept Rare = F::rare;

/// The output and the N inputs of a map; View computes where element i of an array lies.
template <class View, std::size_t N>
struct MapOperands {
  View out;
  View in[N];
  std::int64_t n;  ///< elements of the output
};

inline constexpr int kMapThreads = 256;

inline __device__ std::int64_t map_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * kMapThreads + threadIdx.x;
}

template <class T, class F, class View, std::size_t N, std::size_t... I>
__device__ void map_element(const F& f, const MapOperands<View, N>& operands, std::int64_t i,
                            std::index_sequence<I...>) {
  operands.out.store(i, f(operands.in[I].template load<T>(i)...));
}

template <class F, std::size_t N, std::size_t... I>
__device__ void map_pack(const F& f, const MapOperands<PackView, N>& operands, std::int64_t at,
                         int count, std::index_sequence<I...>) {
  float in[N][kPerThread];
  (operands.in[I].load(at, count, in[I]), ...);
  float out[kPerThread];
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) out[k] = f(in[I][k]...);
  operands.out.store(at, count, out);
}

template <class T, class F, std::size_t N>
__global__ void map_elements(const F f, const MapOperands<StridedView, N> operands) {
  const std::int64_t i = map_thread();
  if (i < operands.n) map_element<T>(f, operands, i, std::make_index_sequence<N>());
}

template <class F, std::size_t N>
__global__ void map_packs(const F f, const MapOperands<PackView, N> operands) {
  const std::int64_t at = map_thread() * kPerThread;
  if (at >= operands.n) return;
  map_pack(f, operands, at, pack_count(at, operands.n), std::make_index_sequence<N>());
}

/// Returns false if the operands cannot be accessed in packs.
template <class F, class... In>
bool launch_packs(const Launch& launch, const F& f, const Array& out, const In&... in) {
  const MapOperands<PackView, sizeof...(In)> operands{
      PackView(out, out.sizes()), {PackView(in, out.sizes())...}, out.numel()};
  if (!operands.out.can_store()) return false;
  for (const PackView& operand : operands.in) {
    if (!operand.can_load()) return false;
  }
  const unsigned blocks = blocks_for(operands.n, kMapThreads * kPerThread);
  map_packs<<<blocks, kMapThreads, 0, launch.stream()>>>(f, operands);
  return true;
}

template <class T, class F, class... In>
void launch_elements(const Launch& launch, const F& f, const Array& out, const In&... in) {
  const MapOperands<StridedView, sizeof...(In)> operands{
      StridedView(out, out.sizes()), {StridedView(in, out.sizes())...}, out.numel()};
  const unsigned blocks = blocks_for(operands.n, kMapThreads);
  map_elements<T><<<blocks, kMapThreads, 0, launch.stream()>>>(f, operands);
}

template <class T, class F, class... In>
void elementwise_on_cuda(const F& f, const Array& out, const In&... in) {
  if (out.numel() == 0) return;
  const Launch launch(out, name_of<F>("elementwise"));
  bool launched = false;
  if constexpr (std::is_same_v<T, float> && !Rare<F>)
    launched = launch_packs(launch, f, out, in...);
  if (!launched) launch_elements<T>(launch, f, out, in...);
  launch.check();
}

}  // namespace halfgrad::detail
