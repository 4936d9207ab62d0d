#include <halfgrad/python/bindings/bindings.h>

/// The methods of Tensor that are written in Python, in halfgrad/composed.
namespace halfgrad::python {
namespace {

struct PythonOp {
  const char* page;  ///< the module in halfgrad/composed
  const char* name;
  const char* parameters;
  const char* result = "Tensor";
};

constexpr const char* kTuple = "tuple[Tensor, ...]";
constexpr const char* kValuesIndices = "halfgrad.return_types.ValuesIndices";
constexpr const char* kAny = "typing.Any";

constexpr PythonOp kReading[] = {
    {"counting", "argwhere", ""},
    {"counting", "bincount", "weights: Tensor | None = None, minlength: int = 0"},
    {"counting", "count_nonzero", "dim: typing.Any = None"},
    {"counting", "histc", "bins: int = 100, min: float = 0, max: float = 0"},
    {"counting", "unique",
     "sorted: bool = True, return_inverse: bool = False, return_counts: bool = False", kAny},
    {"counting", "unique_consecutive", "return_inverse: bool = False, return_counts: bool = False",
     kAny},
    {"moving", "diagflat", "offset: int = 0"},
    {"moving", "fliplr", ""},
    {"moving", "flipud", ""},
    {"moving", "moveaxis", "source: typing.Any, destination: typing.Any"},
    {"moving", "movedim", "source: typing.Any, destination: typing.Any"},
    {"moving", "repeat_interleave",
     "repeats: int | Tensor, dim: int | None = None, *, output_size: int | None = None"},
    {"moving", "rot90", "k: int = 1, dims: collections.abc.Sequence[int] = (0, 1)"},
    {"moving", "tensor_split", "indices_or_sections: typing.Any, dim: int = 0", kTuple},
    {"moving", "unfold", "dimension: int, size: int, step: int"},
    {"products", "addmv", "mat: Tensor, vec: Tensor, *, beta: float = 1, alpha: float = 1"},
    {"products", "addr", "vec1: Tensor, vec2: Tensor, *, beta: float = 1, alpha: float = 1"},
    {"products", "dist", "other: Tensor, p: float = 2"},
    {"products", "inner", "other: Tensor"},
    {"products", "kron", "other: Tensor"},
    {"products", "logaddexp", "other: Tensor"},
    {"products", "logit", "eps: float | None = None"},
    {"products", "matrix_power", "n: int"},
    {"scans", "cummax", "dim: int", kValuesIndices},
    {"scans", "cummin", "dim: int", kValuesIndices},
    {"scans", "cumprod", "dim: int, *, dtype: dtype | None = None"},
    {"scans", "diff",
     "n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None"},
    {"statistics", "aminmax", "*, dim: int | None = None, keepdim: bool = False", kAny},
    {"statistics", "kthvalue", "k: int, dim: int = -1, keepdim: bool = False", kValuesIndices},
    {"statistics", "median", "dim: int | None = None, keepdim: bool = False", kAny},
    {"statistics", "nan_to_num",
     "nan: float | None = 0.0, posinf: float | None = None, neginf: float | None = None"},
    {"statistics", "nanmean", "dim: typing.Any = None, keepdim: bool = False"},
    {"statistics", "nansum", "dim: typing.Any = None, keepdim: bool = False"},
    {"statistics", "quantile",
     "q: float | Tensor, dim: int | None = None, keepdim: bool = False, *, "
     "interpolation: str = 'linear'"},
    {"writing", "index_add", "dim: int, index: Tensor, source: Tensor, *, alpha: float = 1"},
    {"writing", "index_copy", "dim: int, index: Tensor, source: Tensor"},
    {"writing", "index_fill", "dim: int, index: Tensor, value: typing.Any"},
    {"writing", "index_put", "indices: typing.Any, values: Tensor, accumulate: bool = False"},
    {"writing", "masked_scatter", "mask: Tensor, source: Tensor"},
    {"writing", "scatter",
     "dim: int, index: Tensor, src: typing.Any = None, *, value: typing.Any = None"},
    {"writing", "take", "index: Tensor"},
    {"writing", "take_along_dim", "indices: Tensor, dim: int | None = None"},
};

constexpr PythonOp kWriting[] = {
    {"statistics", "nan_to_num_",
     "nan: float | None = 0.0, posinf: float | None = None, neginf: float | None = None"},
    {"writing", "fill_diagonal_", "fill_value: typing.Any, wrap: bool = False"},
    {"writing", "index_add_", "dim: int, index: Tensor, source: Tensor, *, alpha: float = 1"},
    {"writing", "index_copy_", "dim: int, index: Tensor, source: Tensor"},
    {"writing", "index_fill_", "dim: int, index: Tensor, value: typing.Any"},
    {"writing", "masked_scatter_", "mask: Tensor, source: Tensor"},
    {"writing", "scatter_",
     "dim: int, index: Tensor, src: typing.Any = None, *, value: typing.Any = None"},
};

void bind(TensorClass& tensor, const PythonOp& op) {
  const std::string page = std::string("halfgrad.composed.") + op.page;
  const std::string parameters = *op.parameters == '\0' ? "" : std::string(", ") + op.parameters;
  const std::string signature =
      std::string("def ") + op.name + "(self" + parameters + ") -> " + op.result;
  tensor.def(
      op.name,
      [page, name = op.name](nb::handle_t<Tensor> self, const nb::args& args,
                             const nb::kwargs& kwargs) {
        return nb::object(nb::module_::import_(page.c_str()).attr(name)(self, *args, **kwargs));
      },
      nb::sig(signature.c_str()), ("halfgrad." + std::string(op.name) + "() as a method.").c_str());
}

}  // namespace

void bind_python_ops(TensorClass& tensor) {
  for (const PythonOp& op : kReading) bind(tensor, op);
  for (const PythonOp& op : kWriting) bind(tensor, op);
}

}  // namespace halfgrad::python
