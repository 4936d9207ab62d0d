#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/row_references.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/composed_attention.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/random.h>

namespace halfgrad {
namespace detail {
namespace {

// y_i = x_i m_i / (1 - p),  m_i = 0 with probability p, else 1
// dx_i = dy_i m_i / (1 - p)
// The mask m is not saved: the same key generates it again.
struct Dropout {
  static constexpr auto name = "dropout";
  static constexpr auto precision = Precision::any;
  static constexpr unsigned saves = kSavesNothing;
  double p;
  RandomKey key;

  Array forward(const Array& x) const {
    if (!is_floating_point(x.dtype())) {
      fail("dropout", "expected a floating-point tensor, got {}", x.dtype());
    }
    const Array out = Array::empty(x.sizes(), x.dtype(), x.device());
    random::dropout(out, x, p, key);
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
  const auto reference = [](const AnyArithmetic& a, const std::vector<Values>& in) {
    Elements out;
    for (std::size_t i = 0; i < in[0].data.size(); ++i) {
      const bool kept = random_block(kKey, i / 4).word[i % 4] * 0x1p-32 >= kP;
      out.push_back(kept ? a.div(a.number(in[0].data[i]), a.constant(1 - kP)) : a.number(0));
    }
    return out;
  };
  const auto of_the_same_sizes = [=](const std::vector<Values>& in) {
    return in_double(in[0].sizes, reference)(in);
  };
  return {.name = Dropout::name,
          .precision = Dropout::precision,
          .examples = {{"p 0.3", {{.sizes = {5, 13}}}, run, of_the_same_sizes}},
          .bounded_reference = reference};
}

Tensor dropout_by_key(const Tensor& input, double p, RandomKey key) {
  return p == 0 ? input : apply(Dropout{p, key}, input);
}

}  // namespace detail

Tensor dropout(const Tensor& input, double p, bool train) {
  if (!(p >= 0 && p <= 1)) {
    detail::fail("dropout", "expected a probability p in [0, 1], got {}", p);
  }
  if (!train || p == 0) return input;
  return detail::apply(detail::Dropout{p, default_generator().take()}, input);
}

}  // namespace halfgrad
