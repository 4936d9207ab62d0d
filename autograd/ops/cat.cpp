#include <stdexcept>
#include <string>

#include <halfgrad/autograd/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/reference.h>

namespace halfgrad {
namespace {

[[noreturn]] void refuse_shapes(const char* op, const char* expected, const Tensor& a,
                                const Tensor& b) {
  throw std::invalid_argument(std::string(op) + ": expected " + expected + ", got " +
                              to_string(a.sizes()) + " and " + to_string(b.sizes()));
}

void expect_tensors(const char* op, const std::vector<Tensor>& tensors) {
  if (tensors.empty()) {
    throw std::invalid_argument(std::string(op) + ": expected at least one tensor, got none");
  }
}

// As in PyTorch, a tensor of shape [0] fits anywhere and adds nothing.
bool adds_nothing(const Tensor& t) { return t.sizes() == Shape{0}; }

Shape joined_sizes(const std::vector<Tensor>& tensors, int dim, const Tensor& model) {
  Shape sizes = model.sizes();
  sizes[dim] = 0;
  for (const Tensor& t : tensors) {
    if (adds_nothing(t)) continue;
    Shape others = t.sizes();
    if (others.size() == sizes.size()) others[dim] = sizes[dim];
    if (others != sizes) refuse_shapes("cat", "shapes equal but for one dimension", model, t);
    sizes[dim] += t.size(dim);
  }
  return sizes;
}

}  // namespace

// y = (x_0, x_1, ...);  dx_i = its part of dy
Tensor cat(const std::vector<Tensor>& tensors, std::int64_t dim) {
  expect_tensors("cat", tensors);
  std::vector<Tensor> operands = tensors;
  detail::use_one_device("cat", operands);
  detail::cast_operands("cat", Precision::any, operands);
  Tensor model = operands.front();
  for (const Tensor& t : operands) {
    if (adds_nothing(model)) model = t;
  }
  if (model.dim() == 0) refuse_shapes("cat", "at least one dimension", model, operands.back());
  const int d = wrap_dim(dim, static_cast<int>(model.dim()), "cat");
  Array out =
      Array::empty(joined_sizes(operands, d, model), detail::result_type(operands), model.device());
  std::vector<std::int64_t> ends{0};
  std::vector<bool> without_place;
  for (const Tensor& t : operands) {
    const std::int64_t begin = ends.back();
    without_place.push_back(adds_nothing(t));
    ends.push_back(without_place.back() ? begin : begin + t.size(d));
    if (!without_place.back()) out.slice(d, begin, ends.back()).copy_(t.array());
  }
  return detail::record(
      "cat", std::move(out), operands,
      [d, ends, without_place](const Tensor& grad, std::span<Tensor> grad_inputs) {
        for (std::size_t i = 0; i < grad_inputs.size(); ++i) {
          const Tensor part = slice(grad, d, ends[i], ends[i + 1]);
          grad_inputs[i] = without_place[i] ? flatten(part) : part;
        }
      });
}

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
