#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/reference.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/engines/elementwise.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

struct FillWhere {
  static constexpr bool integers = true;
  Scalar fill;

  template <class T>
  HG_HD T operator()(T x, T mask) const {
    return select(mask != T(0), as<T>(fill), x);
  }
};

// y = mask ? fill : x, elementwise; x and mask broadcast
struct MaskedFill {
  static constexpr auto name = "masked_fill";
  static constexpr auto precision = Precision::any;
  static constexpr unsigned saves = operands(1);
  Scalar fill;

  Array forward(const Array& x, const Array& mask) const {
    if (mask.dtype() != DType::boolean) {
      fail("masked_fill", "expected a mask of bool, got {}", mask.dtype());
    }
    const Array out =
        Array::empty(broadcast_shapes(x.sizes(), mask.sizes(), name), x.dtype(), x.device());
    // Throws if x's dtype does not hold `fill`, and rounds it as storing does.
    const Scalar value = visit(x.dtype(), [this](auto tag) {
      using T = typename decltype(tag)::type;
      return Scalar(static_cast<compute_t<T>>(fill.to<T>()));
    });
    elementwise(FillWhere{value}, x.dtype(), out, x, mask);
    return out;
  }
  // dx = mask ? 0 : dy
  void backward(const Backward<2>& node) const {
    node.set(0, masked_fill(node.grad(), node.input(1), 0));
  }
};

}  // namespace

OpEntry masked_fill_entry() {
  const auto example = [](const char* what, const Shape& mask) {
    return OpExample{what,
                     {{.sizes = {3, 4}},
                      {.sizes = mask, .kind = OperandSpec::Kind::boolean, .differentiable = false}},
                     [](const std::vector<Tensor>& in) { return masked_fill(in[0], in[1], 0.5); },
                     [](const std::vector<Values>& in) {
                       return tabulated(in[0].sizes, [&](const Shape& i) {
                         return at(in[1], i) != 0 ? 0.5 : at(in[0], i);
                       });
                     }};
  };
  return {.name = MaskedFill::name,
          .precision = MaskedFill::precision,
          .roundoffs = 0,
          .examples = {example("plain", {3, 4}), example("broadcast", {4})}};
}

}  // namespace detail

Tensor masked_fill(const Tensor& self, const Tensor& mask, Scalar value) {
  return detail::apply(detail::MaskedFill{value}, self, mask);
}

}  // namespace halfgrad
