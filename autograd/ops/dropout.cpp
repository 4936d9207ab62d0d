#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

#include <halfgrad/autograd/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/reference.h>
#include <halfgrad/core/random.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/core/tile.h>

namespace halfgrad {
namespace detail {
namespace {

// out[i] = word i of the key >= p 2^32 ? x[i] / (1 - p) : 0, so that a dropped inf or NaN is gone.
template <class T>
void drop(const Array& out, const Array& x, double p, RandomKey key) {
  constexpr int kBlocks = 32;
  constexpr std::int64_t kWords = 4 * kBlocks;
  static_assert(kTile % kWords == 0);
  const TileReader reader(x, out.sizes());
  const TileWriter writer(out);
  const auto last_dropped = static_cast<std::uint32_t>(std::ceil(std::ldexp(p, 32)) - 1);
  const T scale = static_cast<T>(1 / (1 - p));
  const auto drop_tile = [&](std::int64_t begin, std::int64_t n) {
    T in_scratch[kTile];
    T out_scratch[kTile];
    const T* const in = reader.read(begin, n, in_scratch);
    T* const result = writer.target(begin, out_scratch);
    for (std::int64_t i = 0; i < n; i += kWords) {
      PhiloxBlock blocks[kBlocks];
      random_blocks(key, static_cast<std::uint64_t>((begin + i) / 4), blocks);
      const auto words = std::bit_cast<std::array<std::uint32_t, kWords>>(blocks);
      for (std::int64_t k = 0; k < std::min(kWords, n - i); ++k) {
        const T kept = in[i + k] * scale;
        result[i + k] = words[k] > last_dropped ? kept : T(0);
      }
    }
    writer.commit(begin, n, result);
  };
  parallel_for(0, out.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += kTile) drop_tile(at, std::min(kTile, end - at));
  });
}

// y = x m / (1 - p) with m_i = 0 with probability p, else 1;  dx = dy m / (1 - p).
// The mask is not kept: the same key gives it again.
struct Dropout {
  static constexpr auto name = "dropout";
  static constexpr auto precision = Precision::any;
  static constexpr unsigned saves = kSavesNothing;
  double p;
  RandomKey key;

  Array forward(const Array& x) const {
    if (!is_floating_point(x.dtype())) {
      throw std::invalid_argument("dropout: expected a floating-point tensor, got " +
                                  std::string(halfgrad::name(x.dtype())));
    }
    const Array out = Array::empty(x.sizes(), x.dtype(), x.device());
    if (x.dtype() == DType::f64) {
      drop<double>(out, x, p, key);
    } else {
      drop<float>(out, x, p, key);
    }
    return out;
  }
  void backward(const Backward<1>& node) const { node.set(0, apply(*this, node.grad())); }
};

}  // namespace

OpEntry dropout_entry() {
  static constexpr double kP = 0.3;
  static constexpr RandomKey kKey{7, 0};
  const auto run = [](const std::vector<Tensor>& in) {
    Generator& generator = default_generator();
    const RandomKey state = generator.get_state();
    generator.set_state(kKey);
    Tensor result = dropout(in[0], kP, true);
    generator.set_state(state);
    return result;
  };
  const auto reference = [](const std::vector<Values>& in) {
    Values out = in[0];
    for (std::size_t i = 0; i < out.data.size(); ++i) {
      const double u = random_block(kKey, i / 4).word[i % 4] * 0x1p-32;
      out.data[i] = u < kP ? 0 : out.data[i] / (1 - kP);
    }
    return out;
  };
  return {.name = Dropout::name,
          .precision = Dropout::precision,
          .examples = {{"p 0.3", {{.sizes = {5, 13}}}, run, reference}}};
}

}  // namespace detail

Tensor dropout(const Tensor& input, double p, bool train) {
  if (!(p >= 0 && p <= 1)) {
    throw std::invalid_argument("dropout: expected a probability p in [0, 1], got " +
                                std::to_string(p));
  }
  if (!train || p == 0) return input;
  return detail::apply(detail::Dropout{p, default_generator().take()}, input);
}

}  // namespace halfgrad
