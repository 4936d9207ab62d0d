#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <halfgrad/autograd/op_table/op_table.h>
#include <halfgrad/autograd/op_table/row_references.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/reduced_dims.h>

/// Entries of the table for row-wise ops: reductions, softmax, norms.
namespace halfgrad::detail {

using RowReference = std::function<std::vector<double>(const std::vector<double>&)>;
using BoundedRow = std::function<Elements(const AnyArithmetic&, const Elements& row)>;

/// f evaluated in double.
inline RowReference in_double(const BoundedRow& f) {
  return [f](const std::vector<double>& row) {
    const AnyArithmetic a;
    Elements x;
    for (const double each : row) x.push_back(a.number(each));
    std::vector<double> out;
    for (const Bounded& y : f(a, x)) out.push_back(y.value);
    return out;
  };
}

/// f of every row of the first operand, a matrix; the results are concatenated.
inline BoundedReference of_rows(const BoundedRow& f) {
  return [f](const AnyArithmetic& a, const std::vector<Values>& in) {
    Elements out;
    for (std::int64_t row = 0; row < in[0].sizes[0]; ++row) {
      const Elements result = f(a, row_of(a, in[0], row));
      out.insert(out.end(), result.begin(), result.end());
    }
    return out;
  };
}

/// Applies f to every row of `in` along the dimensions of `mask`. If f returns one element, the
/// dimensions are reduced: to size 1 with keepdim, else removed. Otherwise the shape stays.
inline Values along(const Values& in, unsigned mask, bool keepdim, const RowReference& f) {
  const Shape strides = contiguous_strides(in.sizes);
  const auto place = [&](std::int64_t number, bool reduced) {
    std::int64_t offset = 0;
    for (int d = in.sizes.size() - 1; d >= 0; --d) {
      if (((mask >> static_cast<unsigned>(d) & 1U) != 0) != reduced) continue;
      offset += number % in.sizes[d] * strides[d];
      number /= in.sizes[d];
    }
    return offset;
  };
  const std::int64_t rows = numel(reduced_sizes(in.sizes, mask, true));
  const std::int64_t columns = numel(in.sizes) / rows;
  Values out = in;
  bool one = false;
  for (std::int64_t r = 0; r < rows; ++r) {
    std::vector<double> row;
    const auto at = [&](std::int64_t i) {
      return static_cast<std::size_t>(place(r, false) + place(i, true));
    };
    for (std::int64_t i = 0; i < columns; ++i) row.push_back(in.data[at(i)]);
    row = f(row);
    one = row.size() == 1;
    for (std::size_t i = 0; i < row.size(); ++i) {
      out.data[one ? static_cast<std::size_t>(r) : at(static_cast<std::int64_t>(i))] = row[i];
    }
  }
  if (one) {
    out.sizes = reduced_sizes(in.sizes, mask, keepdim);
    out.data.resize(static_cast<std::size_t>(rows));
  }
  return out;
}

/// Adds examples of a reduction, run(x, dims, keepdim). Empty dims stand for all dimensions.
inline void add_reduction_examples(
    OpEntry& entry, const std::string& prefix,
    const std::function<Tensor(const Tensor&, const Shape&, bool)>& run, const RowReference& f,
    const OperandSpec& operand = {}, const std::vector<Shape>& dims = {{}, {0}, {-1}, {0, 2}}) {
  for (const Shape& over : dims) {
    for (const bool keepdim : {false, true}) {
      if (over.empty() && keepdim) continue;
      OperandSpec spec = operand;
      spec.sizes = {3, 5, 4};
      entry.examples.push_back(
          {prefix + "dims " + to_string(over) + (keepdim ? " kept" : ""),
           {spec},
           [=](const std::vector<Tensor>& in) { return run(in[0], over, keepdim); },
           [=](const std::vector<Values>& in) {
             return along(in[0], dims_mask(over, 3, "example"), keepdim, f);
           }});
    }
  }
}

/// Adds examples of an op that keeps the shape, along the last and along an inner dimension.
inline void add_row_examples(OpEntry& entry,
                             const std::function<Tensor(const Tensor&, std::int64_t)>& run,
                             const RowReference& f) {
  for (const int dim : {2, 1}) {
    entry.examples.push_back({"dim " + std::to_string(dim),
                              {{.sizes = {3, 5, 7}}},
                              [=](const std::vector<Tensor>& in) { return run(in[0], dim); },
                              [=](const std::vector<Values>& in) {
                                return along(in[0], 1U << static_cast<unsigned>(dim), true, f);
                              }});
  }
}

}  // namespace halfgrad::detail
