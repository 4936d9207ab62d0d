#include <cmath>
#include <numeric>
#include <utility>

#include <halfgrad/core/fail.h>
#include <halfgrad/testing/bounded_ops/recorded.h>
#include <halfgrad/testing/error_bound.h>

/// Partial sums, products and places of extremes along one dimension.
namespace halfgrad::testing {
namespace {

using detail::Inputs;
using halfgrad::detail::fail;

constexpr double kUnknownError = BoundedArithmetic::kUnknown;

/// x with dimension `dim` last; the same call moves it back.
BoundedArray exchanged(const BoundedArray& x, int dim) {
  return dim + 1 >= x.dim() ? x : x.transpose(dim, -1);
}

int scanned_dim(const char* op, const BoundedArray& x, std::int64_t dim) {
  detail::expect_defined(op, x);
  if (x.dim() == 0) fail(op, "expected an array of one dimension or more, got {}", x.sizes());
  return wrap_dim(dim, x.dim(), op);
}

/// x without dimension `dim`, of size 1.
BoundedArray without_dim(const BoundedArray& x, int dim) {
  Shape sizes;
  for (int i = 0; i < x.dim(); ++i) {
    if (i != dim) sizes.push_back(x.sizes()[i]);
  }
  return x.reshape(sizes);
}

/// f(row) for each row of x along its last dimension.
template <class F>
void each_row(const BoundedArray& x, const F& f) {
  const auto columns = static_cast<std::ptrdiff_t>(x.sizes().back());
  const auto rows = columns == 0 ? 0 : x.numel() / columns;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto first = x.elements().begin() + row * columns;
    f(Elements(first, first + columns));
  }
}

/// The elements of the last dimension from the last to the first.
BoundedArray reversed(const BoundedArray& x) {
  Values index{{x.sizes().back()}, std::vector<double>(static_cast<std::size_t>(x.sizes().back()))};
  std::iota(index.data.rbegin(), index.data.rend(), 0.0);
  return index_select(x, -1, BoundedArray(x.arithmetic(), index));
}

// dx_i = sum of dy_j for j >= i
BoundedArray cumsum_of_last(const BoundedArray& x) {
  Elements out;
  each_row(x, [&](const Elements& row) {
    for (const Bounded& y : x.math().partial_sums(row)) out.push_back(y);
  });
  return detail::Recorder::recorded({x.arithmetic(), x.sizes(), std::move(out)}, {x},
                                    [](const Inputs&, const BoundedArray&, const BoundedArray& dy) {
                                      return Inputs{reversed(cumsum_of_last(reversed(dy)))};
                                    });
}

/// The product of the elements: in any order if all are exact, else in the row's order.
Bounded product_of(const AnyArithmetic& a, const Elements& row) {
  bool is_exact = true;
  for (const Bounded& each : row) is_exact = is_exact && each.error == 0;
  if (is_exact) return a.prod(row);
  Bounded y = row.front();
  for (std::size_t i = 1; i < row.size(); ++i) y = a.mul(y, row[i]);
  return y;
}

/// For each element the product of those before it times that of those behind it: as many steps as
/// the row has elements, where the products of others by themselves need its square.
Elements products_around(const AnyArithmetic& a, const Elements& row) {
  Elements out(row.size(), a.number(1));
  Bounded product = a.number(1);
  for (std::size_t i = 1; i < row.size(); ++i) out[i] = product = a.mul(product, row[i - 1]);
  product = a.number(1);
  for (std::size_t i = row.size(); i-- > 1;) {
    product = a.mul(product, row[i]);
    out[i - 1] = a.mul(out[i - 1], product);
  }
  return out;
}

/// For each element of the last dimension the product of the others.
BoundedArray products_of_others(const BoundedArray& x) {
  constexpr std::size_t kLong = 300;
  Elements out;
  each_row(x, [&](const Elements& row) {
    if (row.size() > kLong) {
      const Elements around = products_around(x.math(), row);
      out.insert(out.end(), around.begin(), around.end());
      return;
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
      Elements others = row;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      out.push_back(product_of(x.math(), others));
    }
  });
  return {x.arithmetic(), x.sizes(), std::move(out)};
}

/// The place of the first largest element; NaN wins. Unknown where errors leave open which it is.
Bounded place_of_largest(const Elements& row) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < row.size() && !std::isnan(row[best].value); ++i) {
    if (!(row[i].value <= row[best].value)) best = i;
  }
  const Bounded& largest = row[best];
  bool is_known = largest.error < kUnknownError;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double error = largest.error + row[i].error;
    if (i != best && error > 0 && !(largest.value - row[i].value > error)) is_known = false;
  }
  return {static_cast<double>(best), is_known ? 0 : kUnknownError};
}

}  // namespace

BoundedArray cumsum(const BoundedArray& x, std::int64_t dim) {
  const int d = scanned_dim("cumsum", x, dim);
  return exchanged(cumsum_of_last(exchanged(x, d)), d);
}

// dx_i = dy times the product of the other elements
BoundedArray prod(const BoundedArray& x, std::int64_t dim, bool keepdim) {
  const int d = scanned_dim("prod", x, dim);
  const BoundedArray rows = exchanged(x, d);
  Shape kept = rows.sizes();
  kept[kept.size() - 1] = 1;
  Elements out;
  each_row(rows, [&](const Elements& row) { out.push_back(product_of(x.math(), row)); });
  if (rows.sizes().back() == 0) {
    out.assign(static_cast<std::size_t>(numel(kept)), x.math().number(1));
  }
  const BoundedArray y = exchanged(
      detail::Recorder::recorded({x.arithmetic(), kept, std::move(out)}, {rows},
                                 [](const Inputs& in, const BoundedArray&, const BoundedArray& dy) {
                                   return Inputs{dy * products_of_others(in[0])};
                                 }),
      d);
  return keepdim ? y : without_dim(y, d);
}

BoundedArray argmax(const BoundedArray& x, std::int64_t dim, bool keepdim) {
  const int d = scanned_dim("argmax", x, dim);
  if (x.sizes()[d] == 0) fail("argmax", "expected at least one element in a row; set .least");
  const BoundedArray rows = exchanged(x, d);
  Shape kept = rows.sizes();
  kept[kept.size() - 1] = 1;
  Elements out;
  each_row(rows, [&](const Elements& row) { out.push_back(place_of_largest(row)); });
  const BoundedArray y = exchanged({x.arithmetic(), kept, std::move(out)}, d);
  return keepdim ? y : without_dim(y, d);
}

}  // namespace halfgrad::testing
