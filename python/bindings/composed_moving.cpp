#include <halfgrad/autograd/composed/moving.h>

#include <halfgrad/core/fail.h>
#include <halfgrad/python/bindings/op_binder.h>

/// Functions of autograd/composed/moving.h.
namespace halfgrad::python {
namespace {

using OptionalInt = std::optional<std::int64_t>;
using Integers = std::vector<std::int64_t>;
using OneTensor = Tensor (*)(const Tensor&);
using SeveralTensors = std::vector<Tensor> (*)(const std::vector<Tensor>&);
using Joined = Tensor (*)(const std::vector<Tensor>&);

/// Tensors of `f(x, y)` and of `f((x, y))`. Raises TypeError for anything else.
std::vector<Tensor> tensors_of(const char* op, const nb::args& arguments) {
  std::vector<Tensor> tensors;
  if (nb::try_cast(arguments, tensors)) return tensors;
  if (arguments.size() == 1 && nb::try_cast(nb::handle(arguments[0]), tensors)) return tensors;
  throw nb::type_error((op + std::string(": expected tensors or a list of them")).c_str());
}

/// Binds a function of any number of tensors, which follow one another or form a list.
template <class Function, class... Extra>
void bind_of_tensors(nb::module_& module, const char* name, Function function,
                     const Extra&... extra) {
  module.def(
      name,
      [name, function](const nb::args& tensors) {
        const std::vector<Tensor> listed = tensors_of(name, tensors);
        const nb::gil_scoped_release release;
        return function(listed);
      },
      "tensors"_a, extra...);
}

void bind_dims(OpBinder& ops) {
  using Move = Tensor (*)(const Tensor&, const Shape&, const Shape&);
  for (const char* const name : {"movedim", "moveaxis"}) {
    ops.both(name, Move(&movedim), "source"_a, "destination"_a,
             "A view whose dimensions `source` are at the positions `destination`; the others keep "
             "their\norder.");
  }
  ops.both("unflatten", &unflatten, "dim"_a, "sizes"_a,
           "Replaces a dimension by several of these sizes; one size may be -1.");
  ops.method("unfold", &unfold, "dimension"_a, "size"_a, "step"_a,
             "A view of all windows of `size` elements, `step` apart, along a dimension; the "
             "window is a\nnew last dimension.");
  ops.both("fliplr", &fliplr, "flip(1).");
  ops.both("flipud", &flipud, "flip(0).");
  ops.both("rot90", &rot90, "k"_a = 1, "dims"_a = Shape{0, 1},
           "Turns the plane of two dimensions by k quarter turns, from the first to the second.");
}

void bind_least_dims(nb::module_& module) {
  const auto bind = [&](const char* name, OneTensor of_one, SeveralTensors of_several,
                        const char* doc) {
    module.def(name, of_one, "input"_a, ReleaseGil(), doc);
    bind_of_tensors(module, name,
                    [of_several](const auto& tensors) { return TensorTuple{of_several(tensors)}; });
  };
  bind("atleast_1d", &atleast_1d, &atleast_1d, "The tensor with at least one dimension.");
  bind("atleast_2d", &atleast_2d, &atleast_2d,
       "The tensor with at least two dimensions: [n] becomes [1, n].");
  bind("atleast_3d", &atleast_3d, &atleast_3d,
       "The tensor with at least three dimensions: [n] becomes [1, n, 1], [n, m] becomes [n, m, "
       "1].");
}

void bind_joins(OpBinder& ops) {
  const auto bind = [&](const char* name, Joined function, const char* doc) {
    ops.function(name, function, "tensors"_a, doc);
  };
  bind("hstack", &hstack, "Joins tensors along dimension 1, vectors along dimension 0.");
  bind("vstack", &vstack, "Joins tensors along dimension 0; a vector is a row.");
  bind("row_stack", &row_stack, "vstack().");
  bind("dstack", &dstack, "Joins tensors along dimension 2, after atleast_3d().");
  bind("column_stack", &column_stack, "Joins tensors along dimension 1; a vector is a column.");
}

/// A tensor without dimensions is a number of sections, a vector lists indices.
TensorTuple split_at(const Tensor& input, const Tensor& where, std::int64_t dim) {
  if (where.dtype() != kInt64 || where.dim() > 1) {
    detail::fail("tensor_split", "expected a number or a vector of int64, got {} of shape {}",
                 where.dtype(), where.sizes());
  }
  if (where.dim() == 0) return {tensor_split(input, where.item<std::int64_t>(), dim)};
  return {tensor_split(input, where.to_vector<std::int64_t>(), dim)};
}

void bind_parts(OpBinder& ops) {
  ops.both("tensor_split", &split_at, "indices_or_sections"_a, "dim"_a = 0,
           "Splits into that many parts, whose sizes differ by at most one, or before these "
           "indices.");
  ops.both(
      "tensor_split",
      [](const Tensor& input, std::int64_t sections, std::int64_t dim) {
        return TensorTuple{tensor_split(input, sections, dim)};
      },
      "indices_or_sections"_a, "dim"_a = 0);
  ops.both(
      "tensor_split",
      [](const Tensor& input, const Integers& indices, std::int64_t dim) {
        return TensorTuple{tensor_split(input, indices, dim)};
      },
      "indices_or_sections"_a, "dim"_a = 0);
  using Sections = std::vector<Tensor> (*)(const Tensor&, std::int64_t);
  using Indices = std::vector<Tensor> (*)(const Tensor&, const Integers&);
  const auto bind = [&](const char* name, Sections into_sections, Indices at_indices,
                        const char* doc) {
    ops.both(
        name,
        [into_sections](const Tensor& input, std::int64_t sections) {
          return TensorTuple{into_sections(input, sections)};
        },
        "indices_or_sections"_a, doc);
    ops.both(
        name,
        [at_indices](const Tensor& input, const Integers& indices) {
          return TensorTuple{at_indices(input, indices)};
        },
        "indices_or_sections"_a);
  };
  bind("hsplit", &hsplit, &hsplit,
       "Splits dimension 1, of a vector dimension 0, into equal sections or before indices.");
  bind("vsplit", &vsplit, &vsplit, "Splits dimension 0 into equal sections or before indices.");
  bind("dsplit", &dsplit, &dsplit, "Splits dimension 2 into equal sections or before indices.");
}

void bind_grids(nb::module_& module, OpBinder& ops) {
  bind_of_tensors(
      module, "broadcast_tensors",
      [](const auto& tensors) { return TensorTuple{broadcast_tensors(tensors)}; },
      "Views of all tensors with the shape to which they broadcast.");
  module.def(
      "broadcast_shapes",
      [](const nb::args& shapes) {
        Shape common;
        for (const nb::handle shape : shapes) {
          Shape sizes;
          if (!nb::try_cast(shape, sizes)) {
            throw nb::type_error("broadcast_shapes: expected shapes: integers or tuples of them");
          }
          common = broadcast_shapes(common, sizes, "broadcast_shapes");
        }
        return common;
      },
      "shapes"_a, "The shape to which tensors of these shapes broadcast.");
  module.def(
      "meshgrid",
      [](const nb::args& tensors, std::string_view indexing) {
        const std::vector<Tensor> listed = tensors_of("meshgrid", tensors);
        const nb::gil_scoped_release release;
        return TensorTuple{meshgrid(listed, indexing)};
      },
      "tensors"_a, nb::kw_only(), "indexing"_a = "ij",
      "Grids of coordinates, [n, m, ...] each, of vectors [n], [m], ...; indexing=\"xy\" exchanges "
      "the\nfirst two dimensions, as in NumPy.");
  bind_of_tensors(module, "cartesian_prod", &cartesian_prod,
                  "All combinations of the elements of vectors: [n m ..., count], or the vector "
                  "itself if\nthere is only one.");
  ops.function("combinations", &combinations, "input"_a, "r"_a = 2, "with_replacement"_a = false,
               "All choices of r elements of a vector: [count, r].");
}

void bind_repeats(OpBinder& ops) {
  using ByNumber = Tensor (*)(const Tensor&, std::int64_t, OptionalInt, OptionalInt);
  using ByTensor = Tensor (*)(const Tensor&, const Tensor&, OptionalInt, OptionalInt);
  using OfCounts = Tensor (*)(const Tensor&, OptionalInt);
  ops.both("repeat_interleave", ByNumber(&repeat_interleave), "repeats"_a, "dim"_a = nb::none(),
           nb::kw_only(), "output_size"_a = nb::none(),
           "Repeats each element along `dim`, by one number or by one for each; without `dim`, "
           "each\nelement of the flattened tensor. Without `repeats`, repeats i input[i] times.");
  ops.both("repeat_interleave", ByTensor(&repeat_interleave), "repeats"_a, "dim"_a = nb::none(),
           nb::kw_only(), "output_size"_a = nb::none());
  ops.function("repeat_interleave", OfCounts(&repeat_interleave), "repeats"_a, nb::kw_only(),
               "output_size"_a = nb::none());
}

/// Binds tril_indices() or triu_indices().
void bind_triangle(OpBinder& ops, const char* name,
                   Tensor (*function)(std::int64_t, std::int64_t, std::int64_t,
                                      const CreationOptions&),
                   const char* doc) {
  ops.function(
      name,
      [function](std::int64_t row, std::int64_t col, std::int64_t offset,
                 std::optional<DType> dtype, std::optional<Device> device) {
        return function(row, col, offset, {.dtype = dtype, .device = device});
      },
      "row"_a, "col"_a, "offset"_a = 0, nb::kw_only(), "dtype"_a = nb::none(),
      "device"_a = nb::none(), doc);
}

void bind_diagonals(OpBinder& ops) {
  ops.both("diag_embed", &diag_embed, "offset"_a = 0, "dim1"_a = -2, "dim2"_a = -1,
           "Matrices with the elements along the last dimension on a diagonal.");
  ops.both("diagflat", &diagflat, "offset"_a = 0,
           "The matrix with the elements of the flattened tensor on a diagonal.");
  bind_triangle(ops, "tril_indices", &tril_indices,
                "Rows and columns of the elements of a lower triangle: [2, count]; int64 by "
                "default.");
  bind_triangle(ops, "triu_indices", &triu_indices,
                "Rows and columns of the elements of an upper triangle: [2, count]; int64 by "
                "default.");
  ops.in_place(
      "fill_diagonal_",
      [](Tensor& self, Scalar value, bool wrap) -> Tensor& {
        return self.fill_diagonal_(value, wrap);
      },
      "fill_value"_a, "wrap"_a = false,
      "Fills the diagonal of a matrix, or the elements x_ii...i, in place; with `wrap` the "
      "diagonal of a\ntall matrix begins again after a gap of one row.");
}

void bind_picks(OpBinder& ops) {
  ops.both("take", &take, "index"_a,
           "Elements of the flattened tensor, in the shape of the index.");
  ops.both("take_along_dim", &take_along_dim, "indices"_a, "dim"_a = nb::none(),
           "gather() with other dimensions broadcast; without `dim`, elements of the flattened "
           "tensor.");
}

}  // namespace

void bind_composed_moving(nb::module_& module, TensorClass& tensor) {
  OpBinder ops(module, tensor);
  bind_dims(ops);
  bind_least_dims(module);
  bind_joins(ops);
  bind_parts(ops);
  bind_grids(module, ops);
  bind_repeats(ops);
  bind_diagonals(ops);
  bind_picks(ops);
}

}  // namespace halfgrad::python
