#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/reference.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

[[noreturn]] void refuse_shapes(const char* op, const char* expected, const Tensor& a,
                                const Tensor& b) {
  detail::fail(op, "expected {}, got {} and {}", expected, a.sizes(), b.sizes());
}

void expect_tensors(const char* op, const std::vector<Tensor>& tensors) {
  if (tensors.empty()) detail::fail(op, "expected at least one tensor, got none");
}

// As in PyTorch, a tensor of shape [0] fits any other shape and adds no elements.
bool adds_nothing(const Tensor& t) { return t.sizes() == Shape{0}; }

Shape joined_sizes(const std::vector<Tensor>& tensors, int dim, const Tensor& first) {
  Shape sizes = first.sizes();
  sizes[dim] = 0;
  for (const Tensor& t : tensors) {
    if (adds_nothing(t)) continue;
    Shape others = t.sizes();
    if (others.size() == sizes.size()) others[dim] = sizes[dim];
    if (others != sizes) refuse_shapes("cat", "shapes equal but for one dimension", first, t);
    sizes[dim] += t.size(dim);
  }
  return sizes;
}

}  // namespace

// y = x_0, x_1, ... joined along `dim`:  x_i [..., n_i, ...], y [..., n_0 + n_1 + ..., ...]
// dx_i = the slice of dy at x_i's position
Tensor cat(const std::vector<Tensor>& tensors, std::int64_t dim) {
  expect_tensors("cat", tensors);
  std::vector<Tensor> operands = tensors;
  const detail::ObservedOp observed({"cat", operands});
  detail::use_one_device("cat", operands);
  detail::cast_operands("cat", Precision::any, operands);
  Tensor first = operands.front();
  for (const Tensor& t : operands) {
    if (adds_nothing(first)) first = t;
  }
  if (first.dim() == 0) refuse_shapes("cat", "at least one dimension", first, operands.back());
  const int d = wrap_dim(dim, static_cast<int>(first.dim()), "cat");
  Array out =
      Array::empty(joined_sizes(operands, d, first), detail::result_type(operands), first.device());
  std::vector<std::int64_t> ends{0};
  std::vector<bool> is_empty;
  for (const Tensor& t : operands) {
    const std::int64_t begin = ends.back();
    is_empty.push_back(adds_nothing(t));
    ends.push_back(is_empty.back() ? begin : begin + t.size(d));
    if (!is_empty.back()) out.slice(d, begin, ends.back()).copy_(t.array());
  }
  return detail::record("cat", std::move(out), operands,
                        [d, ends, is_empty](const Tensor& grad, std::span<Tensor> grad_inputs) {
                          for (std::size_t i = 0; i < grad_inputs.size(); ++i) {
                            const Tensor part = slice(grad, d, ends[i], ends[i + 1]);
                            grad_inputs[i] = is_empty[i] ? flatten(part) : part;
                          }
                        });
}

// y[..., i, ...] = x_i along a new dimension `dim`; all x_i have one shape
Tensor stack(const std::vector<Tensor>& tensors, std::int64_t dim) {
  expect_tensors("stack", tensors);
  std::vector<Tensor> rows;
  for (const Tensor& t : tensors) {
    if (t.sizes() != tensors.front().sizes()) {
      refuse_shapes("stack", "tensors of one shape", tensors.front(), t);
    }
    rows.push_back(unsqueeze(t, dim));
  }
  return cat(rows, wrap_dim(dim, static_cast<int>(rows.front().dim()), "stack"));
}

namespace detail {

OpEntry cat_entry() {
  const OpExample example{"dim 1",
                          {{.sizes = {3, 4}}, {.sizes = {3, 2}}},
                          [](const std::vector<Tensor>& in) { return cat(in, 1); },
                          [](const std::vector<Values>& in) {
                            return tabulated({3, 6}, [&](const Shape& i) {
                              return i[1] < 4 ? at(in[0], i) : at(in[1], {i[0], i[1] - 4});
                            });
                          }};
  return {.name = "cat", .precision = Precision::any, .roundoffs = 0, .examples = {example}};
}

OpEntry stack_entry() {
  const OpExample example{"dim 1",
                          {{.sizes = {3, 4}}, {.sizes = {3, 4}}},
                          [](const std::vector<Tensor>& in) { return stack(in, 1); },
                          [](const std::vector<Values>& in) {
                            return tabulated({3, 2, 4}, [&](const Shape& i) {
                              return at(in[static_cast<std::size_t>(i[1])], {i[0], i[2]});
                            });
                          }};
  return {.name = "stack", .precision = Precision::any, .roundoffs = 0, .examples = {example}};
}

}  // namespace detail
}  // namespace halfgrad
