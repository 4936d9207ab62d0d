#include <functional>
#include <utility>
#include <vector>

#include <halfgrad/autograd/op_table/reference.h>
#include <halfgrad/autograd/ops.h>

/// Table entries of the views: for each index of the result, the index of the same element of x.
namespace halfgrad::detail {
namespace {

using View = std::function<Tensor(const Tensor& x)>;
using Source = std::function<Shape(const Shape& index)>;

OpEntry view_entry(const char* name, const View& run, const Shape& from, const Shape& to,
                   const Source& source) {
  OpExample example{to_string(from) + " to " + to_string(to),
                    {{.sizes = from}},
                    [=](const std::vector<Tensor>& in) { return run(in[0]); },
                    [=](const std::vector<Values>& in) {
                      return tabulated(to, [&](const Shape& i) { return at(in[0], source(i)); });
                    }};
  return {.name = name, .roundoffs = 0, .examples = {std::move(example)}};
}

}  // namespace

OpEntry reshape_entry() {
  return view_entry(
      "reshape",
      [](const Tensor& x) {
        return reshape(x, {6, -1});
      },
      {2, 3, 4}, {6, 4},
      [](const Shape& i) {
        return Shape{i[0] / 3, i[0] % 3, i[1]};
      });
}
OpEntry flatten_entry() {
  return view_entry(
      "flatten", [](const Tensor& x) { return flatten(x, 1); }, {2, 3, 4}, {2, 12},
      [](const Shape& i) {
        return Shape{i[0], i[1] / 4, i[1] % 4};
      });
}
OpEntry squeeze_entry() {
  OpEntry entry = view_entry(
      "squeeze", [](const Tensor& x) { return squeeze(x); }, {1, 3, 1, 2}, {3, 2},
      [](const Shape& i) {
        return Shape{0, i[0], 0, i[1]};
      });
  entry.examples.push_back(view_entry(
                               "squeeze", [](const Tensor& x) { return squeeze(x, -2); },
                               {1, 3, 1, 2}, {1, 3, 2},
                               [](const Shape& i) {
                                 return Shape{0, i[1], 0, i[2]};
                               })
                               .examples[0]);
  return entry;
}
OpEntry unsqueeze_entry() {
  return view_entry(
      "unsqueeze", [](const Tensor& x) { return unsqueeze(x, 1); }, {3, 2}, {3, 1, 2},
      [](const Shape& i) {
        return Shape{i[0], i[2]};
      });
}
OpEntry transpose_entry() {
  return view_entry(
      "transpose", [](const Tensor& x) { return transpose(x, 0, -1); }, {2, 3, 4}, {4, 3, 2},
      [](const Shape& i) {
        return Shape{i[2], i[1], i[0]};
      });
}
OpEntry permute_entry() {
  return view_entry(
      "permute",
      [](const Tensor& x) {
        return permute(x, {1, 2, 0});
      },
      {2, 3, 4}, {3, 4, 2},
      [](const Shape& i) {
        return Shape{i[2], i[0], i[1]};
      });
}
OpEntry expand_entry() {
  return view_entry(
      "expand",
      [](const Tensor& x) {
        return expand(x, {2, 3, 4});
      },
      {3, 1}, {2, 3, 4},
      [](const Shape& i) {
        return Shape{i[1], 0};
      });
}
OpEntry slice_entry() {
  return view_entry(
      "slice", [](const Tensor& x) { return slice(x, 1, 1, 4, 2); }, {2, 5}, {2, 2},
      [](const Shape& i) {
        return Shape{i[0], 1 + 2 * i[1]};
      });
}
OpEntry select_entry() {
  return view_entry(
      "select", [](const Tensor& x) { return select(x, 1, -2); }, {2, 5, 3}, {2, 3},
      [](const Shape& i) {
        return Shape{i[0], 3, i[1]};
      });
}
// The rows of the view overlap. contiguous() comes first, since tests vary the strides of operands.
OpEntry as_strided_entry() {
  return view_entry(
      "as_strided",
      [](const Tensor& x) {
        return as_strided(contiguous(x), {2, 2, 4}, {1, 4, 2});
      },
      {3, 4}, {2, 2, 4},
      [](const Shape& i) {
        const std::int64_t position = i[0] + 4 * i[1] + 2 * i[2];
        return Shape{position / 4, position % 4};
      });
}

}  // namespace halfgrad::detail
