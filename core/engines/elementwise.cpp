#include <halfgrad/core/engines/elementwise.h>

#include <stdexcept>
#include <utility>

#include <halfgrad/core/fail.h>

namespace halfgrad::detail {
namespace {

// Fast path for arrays of at most one tile: runs on their memory if all are contiguous and of type
// T, as in most calls.
template <class T>
bool run_in_place(TileKernel<T> kernel, const void* f, const Array& out, const Array* const* in,
                  int inputs) {
  const auto fits = [&](const Array& operand) {
    return operand.dtype() == dtype_of<T>() && operand.is_contiguous();
  };
  if (out.numel() > kTile || !fits(out)) return false;
  const T* operands[kMaxInputs];
  for (int i = 0; i < inputs; ++i) {
    if (!fits(*in[i]) || in[i]->sizes() != out.sizes()) return false;
    operands[i] = in[i]->data_as<T>();
  }
  kernel(f, out.data_as<T>(), operands, out.numel());
  return true;
}

template <class T, std::size_t... I>
void run_all_tiles(TileKernel<T> kernel, const void* f, const Array& out, const Array* const* in,
                   std::index_sequence<I...>) {
  constexpr std::size_t kInputs = sizeof...(I);
  const TileView result_view(out);
  const TileView inputs[] = {TileView(*in[I], out.sizes())...};
  for_each_tile(out.numel(), [&](std::int64_t at, std::int64_t n) {
    alignas(64) T scratch[kInputs + 1][kTile];
    const T* const operands[] = {inputs[I].read(at, n, scratch[I])...};
    T* const result = result_view.target(at, scratch[kInputs]);
    kernel(f, result, operands, n);
    result_view.commit(at, n, result);
  });
}

}  // namespace

template <class T>
void run_tiles(TileKernel<T> kernel, const void* f, const Array& out, const Array* const* in,
               int inputs) {
  if (run_in_place(kernel, f, out, in, inputs)) return;
  switch (inputs) {
    case 1:
      return run_all_tiles(kernel, f, out, in, std::make_index_sequence<1>{});
    case 2:
      return run_all_tiles(kernel, f, out, in, std::make_index_sequence<2>{});
    case 3:
      return run_all_tiles(kernel, f, out, in, std::make_index_sequence<3>{});
    case 4:
      return run_all_tiles(kernel, f, out, in, std::make_index_sequence<4>{});
    case kMaxInputs:
      return run_all_tiles(kernel, f, out, in, std::make_index_sequence<kMaxInputs>{});
    default:
      fail<std::logic_error>("run_tiles", "expected 1 to {} operands, got {}", kMaxInputs, inputs);
  }
}

template void run_tiles(TileKernel<double>, const void*, const Array&, const Array* const*, int);
template void run_tiles(TileKernel<float>, const void*, const Array&, const Array* const*, int);
template void run_tiles(TileKernel<std::int64_t>, const void*, const Array&, const Array* const*,
                        int);

}  // namespace halfgrad::detail
