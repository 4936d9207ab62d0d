#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/gelu.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
OpEntry gelu_entry() {
  OpEntry entry = elementwise_entry(Gelu{}, [](const Tensor& x) { return gelu(x); });
  add_examples(
      entry, GeluTanh{}, [](const Tensor& x) { return gelu(x, "tanh"); }, "tanh");
  return entry;
}

}  // namespace detail

Tensor gelu(const Tensor& self, const std::string& approximate) {
  if (approximate == "tanh") return detail::apply_elementwise(detail::GeluTanh{}, self);
  if (approximate == "none") return detail::apply_elementwise(detail::Gelu{}, self);
  detail::fail("gelu", "expected approximate to be 'none' or 'tanh', got '{}'", approximate);
}

}  // namespace halfgrad
