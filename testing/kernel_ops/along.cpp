#include <halfgrad/testing/kernel_ops/along.h>

#include <algorithm>
#include <string>
#include <utility>

namespace halfgrad::testing::detail {
namespace {

/// The place of the dimension of size k among the others, m and n.
class Place {
 public:
  Place(int dim, int ndim) : dim_(dim), ndim_(ndim) {}

  Shape others(const Dims& d) const { return ndim_ == 3 ? Shape{d.m, d.n} : Shape{d.m}; }
  Shape full(const Dims& d) const { return inserted(others(d), d.k); }
  /// The dims of the op on rows.
  Dims rows(const Dims& d) const { return {numel(others(d)), 1, d.k}; }

  /// For each element in row-major order of `full`, its place in a matrix of rows.
  std::vector<std::size_t> places(const Shape& full) const {
    const std::int64_t k = full[dim_];
    std::int64_t inner = 1;
    for (int i = dim_ + 1; i < ndim_; ++i) inner *= full[i];
    std::vector<std::size_t> all(static_cast<std::size_t>(numel(full)));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const std::int64_t row = at / inner / k * inner + at % inner;
      all[i] = static_cast<std::size_t>(row * k + at / inner % k);
    }
    return all;
  }

  /// Matrices of rows; weights of the rows stay.
  std::vector<Values> as_rows(const std::vector<Values>& in) const {
    std::vector<Values> moved = in;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (in[i].sizes.size() != ndim_) continue;
      const std::vector<std::size_t> to = places(in[i].sizes);
      for (std::size_t from = 0; from < to.size(); ++from) {
        moved[i].data[to[from]] = in[i].data[from];
      }
      const std::int64_t k = in[i].sizes[dim_];
      moved[i].sizes = {k == 0 ? 0 : numel(in[i].sizes) / k, k};
    }
    return moved;
  }
  template <class T>
  std::vector<T> from_rows(const std::vector<T>& rows, const Shape& full) const {
    std::vector<T> moved;
    moved.reserve(rows.size());
    for (const std::size_t place : places(full)) moved.push_back(rows[place]);
    return moved;
  }

  /// "[m, k]" as it is along this dimension, in a signature.
  std::string renamed(std::string signature) const {
    std::string names[3] = {"m", "n", "k"};
    if (ndim_ == 2) std::swap(names[1], names[2]);
    std::rotate(names + dim_, names + ndim_ - 1, names + ndim_);
    const auto bracketed = [&](int first, int skipped) {
      std::string text;
      for (int i = first; i < ndim_; ++i) {
        if (i != skipped) text += (text.empty() ? "" : ", ") + names[i];
      }
      return '[' + text + ']';
    };
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"[m, k]", bracketed(0, -1)},
                                   {"[m]", bracketed(0, dim_)}}) {
      for (std::size_t at = signature.find(from); at != std::string::npos;
           at = signature.find(from, at + to.size())) {
        signature.replace(at, from.size(), to);
      }
    }
    return signature;
  }

 private:
  Shape inserted(const Shape& others, std::int64_t k) const {
    Shape sizes;
    for (int i = 0, other = 0; i < ndim_; ++i) sizes.push_back(i == dim_ ? k : others[other++]);
    return sizes;
  }

  int dim_, ndim_;
};

/// The operands of the op on rows, whose matrices have the sizes `full`.
std::vector<OperandSpec> with_sizes(std::vector<OperandSpec> specs, const Shape& full) {
  for (OperandSpec& spec : specs) {
    if (spec.sizes.size() == 2) spec.sizes = full;
  }
  return specs;
}

}  // namespace

KernelOp along(const KernelOp& op, int dim, int ndim) {
  const Place place(dim, ndim);
  const bool reduces = op.output({}).size() == 1;
  KernelOp moved = op;
  moved.signature = place.renamed(op.signature);
  moved.operands = [=, operands = op.operands](const Dims& d) {
    return with_sizes(operands(place.rows(d)), place.full(d));
  };
  moved.output = [=](const Dims& d) { return reduces ? place.others(d) : place.full(d); };
  // Operands are drawn as rows: an infinity, a mean or a run is that of a row.
  moved.drawn = [=, operands = op.operands](const Dims& d) { return operands(place.rows(d)); };
  moved.adjusted = [=](const DrawnCase& drawn, std::vector<Values>& in) {
    const Shape full = place.full(drawn.dims);
    for (Values& each : in) {
      if (each.sizes.size() != 2) continue;
      each = {full, place.from_rows(each.data, full)};
    }
  };
  const auto back = [=](const auto& results, const std::vector<Values>& in) {
    return reduces ? results : place.from_rows(results, in[0].sizes);
  };
  moved.bounded = [=, bounded = op.bounded](const std::vector<Values>& in, DType accumulate,
                                            DType output, const Leniency& leniency) {
    return back(bounded(place.as_rows(in), accumulate, output, leniency), in);
  };
  moved.rounded = [=, rounded = op.rounded](const std::vector<Values>& in,
                                            const NumberFormat& format) {
    return back(rounded(place.as_rows(in), format), in);
  };
  return moved;
}

}  // namespace halfgrad::testing::detail
