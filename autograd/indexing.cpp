#include <halfgrad/autograd/indexing.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/graph/op_name.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/indices.h>
#include <halfgrad/autograd/ops/shared/view.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/warning.h>

// Indexing as PyTorch defines it, composed of views, nonzero, index_select and scatter_add.
namespace halfgrad::indexing {

TensorIndex::TensorIndex(const char* text) : value_(Ellipsis) {
  if (std::string_view(text) != "...") {
    detail::fail("TensorIndex", "expected \"...\", got \"{}\"", text);
  }
}

Tensor TensorIndex::mask_of(bool value) { return halfgrad::tensor(value); }

namespace {

// A view, and one index tensor per dimension: undefined for a dimension that stays whole.
struct Picks {
  Tensor view;
  std::vector<Tensor> along;
};

bool is_mask(const Tensor& index) { return index.dtype() == kBool || index.dtype() == kByte; }

void warn_of_bytes(const char* op) {
  static const bool warned =
      (detail::warn(std::string(op) + ": a mask of uint8 counts as one of bool; use bool"), true);
  static_cast<void>(warned);
}

// Checks that a mask has the sizes of the dimensions of `view` from `dim` on.
void expect_mask(const char* op, const Tensor& mask, const Tensor& view, std::int64_t dim) {
  for (std::int64_t i = 0; i < mask.dim(); ++i) {
    if (dim + i < view.dim() && mask.size(i) == view.size(dim + i)) continue;
    detail::fail<std::out_of_range>(
        op, "expected a mask of the sizes that {} has from dimension {} on, got {}", view.sizes(),
        dim, mask.sizes());
  }
}

int dims_taken(const TensorIndex& index) {
  const auto& value = index.value();
  if (const Tensor* const tensor = std::get_if<Tensor>(&value)) {
    return is_mask(*tensor) ? static_cast<int>(tensor->dim()) : 1;
  }
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<Slice>(value);
}

// Applies the indices from left to right; dim_ is the next dimension of the view.
class Reader {
 public:
  Reader(const char* op, const Tensor& self, const std::vector<TensorIndex>& indices)
      : op_(op), picks_{self, {}} {
    for (const TensorIndex& index : indices) left_over_ -= dims_taken(index);
    left_over_ += self.dim();
    if (left_over_ < 0) {
      detail::fail<std::out_of_range>(op, "expected at most {} indices, got {}", self.dim(),
                                      self.dim() - left_over_);
    }
    for (const TensorIndex& index : indices) std::visit(*this, index.value());
    picks_.along.resize(static_cast<std::size_t>(picks_.view.dim()));
  }

  Picks result() && { return std::move(picks_); }

  void operator()(std::nullopt_t) { add_dimension(), ++dim_; }
  void operator()(EllipsisIndexType) {
    dim_ += left_over_;
    if (std::exchange(ellipsis_, true)) {
      throw halfgrad::detail::Raised<std::invalid_argument>(std::string(op_) +
                                                            ": expected one Ellipsis at most");
    }
  }
  void operator()(std::int64_t index) {
    picks_.view =
        detail::with_op_name(op_, "select", [&] { return select(picks_.view, dim_, index); });
  }
  void operator()(const Slice& slice) {
    picks_.view = halfgrad::slice(picks_.view, dim_++, slice.start(), slice.stop(), slice.step());
  }
  void operator()(const Tensor& index) {
    const bool is_small = index.dtype() == kShort || index.dtype() == kChar;
    if (index.dtype() == kLong || index.dtype() == kInt || (is_small && index.dim() == 0)) {
      return index.dim() == 0 ? (*this)(index.item<std::int64_t>()) : pick(index);
    }
    if (!is_mask(index)) {
      detail::fail(op_, "expected tensors of int64, int32 or bool, got {}", index.dtype());
    }
    if (index.dtype() == kByte) warn_of_bytes(op_);
    if (index.dim() == 0) {
      add_dimension();
      return pick_places(unsqueeze(index, 0));
    }
    pick_places(index);
  }

 private:
  void add_dimension() { picks_.view = unsqueeze(picks_.view, dim_); }

  void pick(const Tensor& index) {
    picks_.along.resize(static_cast<std::size_t>(dim_));
    picks_.along.push_back(index);
    ++dim_;
  }

  void pick_places(const Tensor& mask) {
    expect_mask(op_, mask, picks_.view, dim_);
    const Tensor places = nonzero(mask);
    for (std::int64_t i = 0; i < mask.dim(); ++i) pick(select(places, 1, i));
  }

  const char* op_;
  Picks picks_;
  std::int64_t dim_ = 0, left_over_ = 0;
  bool ellipsis_ = false;
};

// Returns the flat index of each tuple of indices into the picked dimensions of `view`.
Tensor flat_index(const char* op, const Tensor& view, const std::vector<Tensor>& along) {
  Tensor flat;
  for (std::size_t d = 0; d < along.size(); ++d) {
    if (!along[d].defined()) continue;
    const std::int64_t size = view.size(static_cast<std::int64_t>(d));
    const Tensor index = along[d].to(view.device()).to(kLong);
    const Tensor from_start = where((index < 0) & (index >= -size), index + size, index);
    const Tensor wrapped(detail::checked_indices(op, from_start.array(), size));
    flat = flat.defined() ? flat * size + wrapped : wrapped;
  }
  return flat;
}

// The selection by index tensors. The picked dimensions are merged into one: in their place if they
// are neighbours, otherwise in front.
struct Rows {
  Tensor rows;         // a view, or a copy where the strides do not allow one
  std::int64_t place;  // the merged dimension
  Tensor flat;         // the index into it, of any shape
  Shape order;         // the view's dimensions with the picked ones beside each other
  Shape picked_sizes;  // sizes of the selection
};

bool is_picked(const Tensor& index) { return index.defined(); }

bool any_picked(const Picks& picks) {
  return std::any_of(picks.along.begin(), picks.along.end(), is_picked);
}

Rows rows_of(const char* op, const Picks& picks) {
  const auto& along = picks.along;
  const auto first = std::find_if(along.begin(), along.end(), is_picked);
  const auto last = std::find_if(along.rbegin(), along.rend(), is_picked).base();
  const std::int64_t place = std::all_of(first, last, is_picked) ? first - along.begin() : 0;

  Shape order, picked_dims;
  for (std::size_t d = 0; d < along.size(); ++d) {
    (is_picked(along[d]) ? picked_dims : order).push_back(static_cast<std::int64_t>(d));
  }
  Shape sizes;
  for (const std::int64_t dim : order) sizes.push_back(picks.view.size(dim));
  std::int64_t picked_size = 1;
  for (int i = 0; i < picked_dims.size(); ++i) {
    picked_size *= picks.view.size(picked_dims[i]);
    order.insert(static_cast<int>(place) + i, picked_dims[i]);
  }
  Shape merged = sizes;
  merged.insert(static_cast<int>(place), picked_size);

  const Tensor flat = flat_index(op, picks.view, along);
  for (int i = 0; i < flat.dim(); ++i) sizes.insert(static_cast<int>(place) + i, flat.size(i));
  return {reshape(permute(picks.view, order), merged), place, flat, order, sizes};
}

Tensor pick(const Picks& picks) {
  if (!any_picked(picks)) return picks.view;
  const Rows at = rows_of("index", picks);
  const Tensor picked = index_select(at.rows, at.place, reshape(at.flat, at.flat.numel()));
  return detail::unsafe_view(picked, at.picked_sizes);
}

// The last position at which `flat` has each of the indices below `count`, or -1.
Tensor last_positions(const Tensor& flat, std::int64_t count) {
  const auto [indices, positions] = flat.sort();  // equal ones keep their order
  const Tensor end = ones(1, {.dtype = kBool, .device = flat.device()});
  const Tensor is_last = cat({slice(indices, 0, 0, -1) != slice(indices, 0, 1), end});
  const Tensor none = zeros(count, flat.options());
  return scatter_add(none, 0, indices, where(is_last, positions + 1, 0)) - 1;
}

// Returns the rows with `value` put, or added, at the indices.
Tensor with_values(const Rows& at, const Tensor& value, bool accumulate) {
  const Tensor flat = reshape(at.flat, at.flat.numel());
  Shape sizes = at.rows.sizes();
  const int place = static_cast<int>(at.place);
  sizes[place] = flat.numel();
  const Tensor values = reshape(expand(value.to(at.rows), at.picked_sizes), sizes);
  const auto beside_rows = [&](const Tensor& one_dim) {
    Shape sizes_beside;
    for (int i = 0; i < sizes.size(); ++i) sizes_beside.push_back(i == place ? -1 : 1);
    return reshape(one_dim, sizes_beside);
  };
  if (accumulate) return scatter_add(at.rows, place, expand(beside_rows(flat), sizes), values);
  const Tensor positions = last_positions(flat, at.rows.size(place));
  return where(beside_rows(positions >= 0), index_select(values, place, positions.clamp_min(0)),
               at.rows);
}

// `value` without the leading dimensions of size 1 that `dims` dimensions have no place for, as in
// NumPy: [1, 1, 3] is assigned to [3].
Tensor without_leading_ones(const Tensor& value, std::int64_t dims) {
  Shape sizes = value.sizes();
  while (sizes.size() > dims && sizes[0] == 1) sizes.erase(0);
  return sizes.size() == value.dim() ? value : reshape(value, sizes);
}

// True for a single mask, of which one value for all may have any dtype, as in masked_fill_().
bool is_one_mask(const std::vector<TensorIndex>& indices) {
  int tensors = 0, masks = 0;
  for (const TensorIndex& index : indices) {
    const Tensor* const tensor = std::get_if<Tensor>(&index.value());
    if (tensor == nullptr || (!is_mask(*tensor) && tensor->dim() == 0)) continue;
    ++tensors;
    masks += is_mask(*tensor);
  }
  return tensors == 1 && masks == 1;
}

void put(const Picks& picks, const Tensor& source, bool accumulate, bool takes_any_dtype) {
  const Tensor& view = picks.view;
  if (source.dtype() != view.dtype() && !takes_any_dtype) {
    detail::fail("index_put_", "expected values of {}, as the tensor, got {}; convert them by to()",
                 view.dtype(), source.dtype());
  }
  const detail::CastRuleScope no_rule(nullptr);  // the target keeps its dtype
  const Rows at = rows_of("index_put_", picks);
  const Tensor value = without_leading_ones(source, at.picked_sizes.size());
  if (at.flat.numel() == 0) return static_cast<void>(expand(value, at.picked_sizes));
  Shape permuted, inverse = at.order;
  for (int i = 0; i < at.order.size(); ++i) {
    permuted.push_back(view.size(at.order[i]));
    inverse[static_cast<int>(at.order[i])] = i;
  }
  const Tensor rows = with_values(at, value, accumulate);
  detail::assign_in_place(view, permute(reshape(rows, permuted), inverse), "index_put_");
}

}  // namespace
}  // namespace halfgrad::indexing

namespace halfgrad::detail {

Tensor TensorMethods::index(const std::vector<indexing::TensorIndex>& indices) const {
  const Tensor picked = indexing::pick(indexing::Reader("index", self(), indices).result());
  return picked.is_same(self()) ? reshape(picked.sizes()) : picked;  // returns a view, not self
}

Tensor& InPlaceMethods::index_put_(const std::vector<indexing::TensorIndex>& indices,
                                   const Tensor& value, bool accumulate) const {
  const indexing::Picks picks = indexing::Reader("index_put_", self(), indices).result();
  if (indexing::any_picked(picks)) {
    const bool fills = !accumulate && value.numel() == 1 && indexing::is_one_mask(indices);
    indexing::put(picks, value, accumulate, fills);
  } else if (const Tensor fit = indexing::without_leading_ones(value, picks.view.dim());
             accumulate) {
    picks.view.add_(fit);
  } else {
    picks.view.copy_(fit);
  }
  return const_cast<Tensor&>(self());
}
Tensor& InPlaceMethods::index_put_(const std::vector<indexing::TensorIndex>& indices,
                                   Scalar value) const {
  const Tensor* const mask =
      indices.size() == 1 ? std::get_if<Tensor>(&indices[0].value()) : nullptr;
  if (mask != nullptr && indexing::is_mask(*mask)) {
    if (mask->dtype() == kByte) indexing::warn_of_bytes("index_put_");
    indexing::expect_mask("index_put_", *mask, self(), 0);
    Shape sizes = mask->sizes();
    while (sizes.size() < self().dim()) sizes.push_back(1);
    return masked_fill_(halfgrad::reshape(*mask, sizes).to(kBool), value);
  }
  return index_put_(indices, full({}, value, {.dtype = self().dtype(), .device = self().device()}));
}

}  // namespace halfgrad::detail
