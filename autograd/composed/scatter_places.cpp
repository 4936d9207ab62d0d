#include <halfgrad/autograd/composed/scatter_places.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops/shared/indices.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::detail {

Tensor with_dimension(const Tensor& t) { return t.dim() == 0 ? reshape(t, {1}) : t; }

Tensor flat_positions(const Tensor& self, int dim, const Tensor& index) {
  const Tensor base = with_dimension(self);
  const Tensor at = with_dimension(index);
  bool fits = base.dim() == at.dim();
  for (int i = 0; fits && i < base.dim(); ++i) fits = i == dim || at.size(i) <= base.size(i);
  if (!fits) {
    fail("scatter", "expected an index no larger than self except in dimension {}, got {} and {}",
         dim, index.sizes(), self.sizes());
  }
  const Tensor checked(checked_indices("scatter", at.array(), base.size(dim)));
  const Tensor all = arange(base.numel(), {.device = self.device()});
  return flatten(gather(reshape(all, base.sizes()), dim, checked));
}

Tensor scattered_values(const Tensor& index, const Tensor& src) {
  Tensor values = with_dimension(src);
  const Shape sizes = with_dimension(index).sizes();
  bool fits = values.dim() == sizes.size();
  for (int i = 0; fits && i < sizes.size(); ++i) {
    fits = sizes[i] <= values.size(i);
    if (fits && sizes[i] < values.size(i)) values = slice(values, i, 0, sizes[i]);
  }
  if (!fits) {
    fail("scatter", "expected an index no larger than src, got {} and {}", index.sizes(),
         src.sizes());
  }
  return flatten(values);
}

}  // namespace halfgrad::detail
