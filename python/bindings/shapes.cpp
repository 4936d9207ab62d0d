#include <algorithm>
#include <functional>

#include <halfgrad/autograd/composed/moving.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/python/bindings/op_binder.h>

/// Views, rearranging, joining and splitting.
namespace halfgrad::python {
namespace {

using OptionalInt = std::optional<std::int64_t>;

/// Binds a method of a shape twice: `x.view((2, 3))` and `x.view(2, 3)`.
void bind_shaped(TensorClass& tensor, const char* name,
                 Tensor (*function)(const Tensor&, const Shape&), const char* parameter,
                 const char* doc) {
  tensor.def(name, function, nb::arg(parameter), ReleaseGil(), doc);
  tensor.def(
      name,
      [function](const Tensor& self, const nb::args& sizes) {
        return function(self, shape_of(sizes));
      },
      nb::arg(parameter));
}

Tensor flipped(const Tensor& input, const Shape& dims) { return flip(input, dims); }
Tensor summed(const Tensor& input, const Shape& size) { return sum_to_size(input, size); }
Tensor viewed(const Tensor& input, const Shape& size) { return input.view(size); }

void bind_shapes_of(nb::module_& module, TensorClass& tensor) {
  module.def("reshape", &reshape, "input"_a, "shape"_a, ReleaseGil());
  module.def("permute", &permute, "input"_a, "dims"_a, ReleaseGil());
  module.def("flip", &flip, "input"_a, "dims"_a, ReleaseGil());
  module.def("tile", &tile, "input"_a, "dims"_a, ReleaseGil());
  module.def("broadcast_to", &expand, "input"_a, "size"_a, ReleaseGil());
  bind_shaped(tensor, "reshape", &reshape, "shape",
              "A view if the strides allow it, else a copy. One size may be -1.");
  bind_shaped(tensor, "view", &viewed, "shape",
              "reshape() without a copy. Raises RuntimeError if the strides do not allow it.");
  bind_shaped(tensor, "permute", &permute, "dims", "A view with the dimensions in this order.");
  bind_shaped(tensor, "expand", &expand, "size",
              "Repeats dimensions of size 1 without copying. A size of -1 keeps the old size.");
  bind_shaped(tensor, "repeat", &repeat, "repeats",
              "Repeats the tensor repeats[i] times along dimension i.");
  bind_shaped(tensor, "tile", &tile, "dims",
              "repeat(dims), where missing leading dimensions of dims count as 1.");
  bind_shaped(tensor, "broadcast_to", &expand, "size", "expand(size).");
  bind_shaped(tensor, "sum_to_size", &summed, "size",
              "Sums the dimensions along which this tensor was broadcast from `size`.");
  bind_shaped(tensor, "flip", &flipped, "dims", "Reverses the order along these dimensions.");
}

void bind_dims(OpBinder& ops) {
  for (const char* const name : {"transpose", "swapaxes", "swapdims"}) {
    ops.both(name, &transpose, "dim0"_a, "dim1"_a, "A view with two dimensions exchanged.");
  }
  ops.both(
      "ravel", [](const Tensor& input) { return flatten(input); }, "flatten().");
  ops.both(
      "t", [](const Tensor& input) { return input.t(); }, "The transpose of a matrix.");
  ops.both(
      "squeeze",
      [](const Tensor& input, OptionalInt dim) {
        return dim ? squeeze(input, *dim) : squeeze(input);
      },
      "dim"_a = nb::none(), "Removes dimension `dim`, several of them, or all, of size 1.");
  ops.both(
      "squeeze",
      [](const Tensor& input, const Shape& dims) {
        std::vector<std::int64_t> sorted;
        for (std::int64_t dim : dims) sorted.push_back(dim < 0 ? dim + input.dim() : dim);
        std::ranges::sort(sorted, std::greater<>());
        Tensor result = input;
        for (std::int64_t dim : sorted) result = squeeze(result, dim);
        return result;
      },
      "dim"_a);
  ops.both("unsqueeze", &unsqueeze, "dim"_a, "Inserts a dimension of size 1.");
  ops.in_place(
      "squeeze_",
      [](Tensor& self, OptionalInt dim) -> Tensor& {
        return dim ? self.squeeze_(*dim) : self.squeeze_();
      },
      "dim"_a = nb::none(), "squeeze(), of this object. Raises ValueError if it requires grad.");
  ops.in_place(
      "unsqueeze_", [](Tensor& self, std::int64_t dim) -> Tensor& { return self.unsqueeze_(dim); },
      "dim"_a);
  ops.in_place("t_", [](Tensor& self) -> Tensor& { return self.t_(); });
  ops.in_place(
      "transpose_",
      [](Tensor& self, std::int64_t dim0, std::int64_t dim1) -> Tensor& {
        return self.transpose_(dim0, dim1);
      },
      "dim0"_a, "dim1"_a);
  ops.both("flatten", &flatten, "start_dim"_a = 0, "end_dim"_a = -1,
           "Merges the dimensions from start_dim to end_dim into one.");
  ops.method(
      "view_as", [](const Tensor& self, const Tensor& other) { return self.view_as(other); },
      "other"_a);
  ops.method(
      "reshape_as", [](const Tensor& self, const Tensor& other) { return self.reshape_as(other); },
      "other"_a);
  ops.method(
      "expand_as", [](const Tensor& self, const Tensor& other) { return self.expand_as(other); },
      "other"_a);
  ops.both("select", &select, "dim"_a, "index"_a, "x[..., index, ...] in dimension `dim`.");
  ops.both(
      "narrow",
      static_cast<Tensor (*)(const Tensor&, std::int64_t, std::int64_t, std::int64_t)>(&narrow),
      "dim"_a, "start"_a, "length"_a,
      "The view x[..., start:start + length, ...] in dimension `dim`.");
  ops.both("as_strided", &as_strided, "size"_a, "stride"_a, "storage_offset"_a = nb::none(),
           "Any view of the memory; strides and offset count elements.");
}

void bind_diagonals(OpBinder& ops) {
  ops.both(
      "diagonal", &diagonal, "offset"_a = 0, "dim1"_a = 0, "dim2"_a = 1,
      "The elements whose index in dim2 is `offset` larger than in dim1, as a last dimension.");
  ops.both("diag", &diag, "diagonal"_a = 0,
           "A copy of a matrix's diagonal; for a vector, the matrix with that diagonal.");
  ops.both("trace", &trace, "The sum of a matrix's diagonal.");
  ops.both("tril", &tril, "diagonal"_a = 0, "The lower triangle of each matrix, else zeros.");
  ops.both("triu", &triu, "diagonal"_a = 0, "The upper triangle of each matrix, else zeros.");
  ops.in_place(
      "tril_", [](Tensor& self, std::int64_t k) -> Tensor& { return self.tril_(k); },
      "diagonal"_a = 0);
  ops.in_place(
      "triu_", [](Tensor& self, std::int64_t k) -> Tensor& { return self.triu_(k); },
      "diagonal"_a = 0);
  ops.both("roll", &roll, "shifts"_a, "dims"_a = Shape(),
           "Shifts cyclically along `dims`; without them along the flattened tensor.");
}

void bind_joins(OpBinder& ops) {
  const auto pieces = [](const Tensor& input, std::int64_t size, std::int64_t dim) {
    return TensorTuple{split(input, size, dim)};
  };
  const auto listed = [](const Tensor& input, const std::vector<std::int64_t>& sizes,
                         std::int64_t dim) { return TensorTuple{split(input, sizes, dim)}; };
  ops.function("cat", &cat, "tensors"_a, "dim"_a = 0, "Joins tensors along a dimension.");
  ops.function("stack", &stack, "tensors"_a, "dim"_a = 0, "Joins tensors along a new dimension.");
  // The parameter has two names in PyTorch: split_size_or_sections of the function.
  ops.function("split", pieces, "input"_a, "split_size_or_sections"_a, "dim"_a = 0,
               "Pieces of this size along `dim`, the last may be shorter, or of the listed sizes.");
  ops.function("split", listed, "input"_a, "split_size_or_sections"_a, "dim"_a = 0);
  ops.method("split", pieces, "split_size"_a, "dim"_a = 0,
             "Pieces of split_size along `dim`, the last may be shorter, or of the listed sizes.");
  ops.method("split", listed, "split_size"_a, "dim"_a = 0);
  ops.both(
      "chunk",
      [](const Tensor& input, std::int64_t chunks, std::int64_t dim) {
        return TensorTuple{chunk(input, chunks, dim)};
      },
      "chunks"_a, "dim"_a = 0,
      "Pieces of size(dim) / chunks, rounded up: there may be fewer than `chunks`.");
  ops.both(
      "unbind",
      [](const Tensor& input, std::int64_t dim) { return TensorTuple{unbind(input, dim)}; },
      "dim"_a = 0, "The slices along `dim`.");
}

}  // namespace

void bind_shapes(nb::module_& module, TensorClass& tensor) {
  bind_shapes_of(module, tensor);
  OpBinder ops(module, tensor);
  bind_dims(ops);
  bind_diagonals(ops);
  bind_joins(ops);
}

}  // namespace halfgrad::python
