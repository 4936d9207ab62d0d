#include <halfgrad/autograd/composed/writing.h>

#include <halfgrad/python/bindings/op_binder.h>

/// Functions of autograd/composed/writing.h, and in place.
namespace halfgrad::python {
namespace {

using Methods = detail::ComposedMethods;

/// Binds a function, and the method `name_` that does the same in place. Both take `arguments`.
template <class Function, class... In, class... Extra>
void bind_writing(OpBinder& ops, const std::string& name, Function function,
                  Tensor& (Methods::*in_place)(In...) const, const char* doc,
                  const Extra&... arguments) {
  ops.both(name.c_str(), function, arguments..., doc);
  ops.in_place((name + "_").c_str(),
               [in_place](Tensor& self, In... in) -> Tensor& { return (self.*in_place)(in...); },
               arguments..., (name + "(), in place.").c_str());
}

template <class... In>
using Function = Tensor (*)(const Tensor&, In...);
template <class... In>
using InPlace = Tensor& (Methods::*)(In...) const;

void bind_scatter(OpBinder& ops) {
  using Dim = std::int64_t;
  bind_writing(ops, "scatter", Function<Dim, const Tensor&, const Tensor&>(&scatter),
               InPlace<Dim, const Tensor&, const Tensor&>(&Methods::scatter_),
               "A copy y with y[index[i][j]][j] = src[i][j] for dim 0, or = value. Of several "
               "values for one\nelement the last one stays.",
               "dim"_a, "index"_a, "src"_a);
  bind_writing(ops, "scatter", Function<Dim, const Tensor&, Scalar>(&scatter),
               InPlace<Dim, const Tensor&, Scalar>(&Methods::scatter_), "", "dim"_a, "index"_a,
               "value"_a);
  bind_writing(ops, "scatter",
               Function<Dim, const Tensor&, const Tensor&, std::string_view>(&scatter),
               InPlace<Dim, const Tensor&, const Tensor&, std::string_view>(&Methods::scatter_),
               "With reduce \"add\" or \"multiply\" the values are combined with the input's.",
               "dim"_a, "index"_a, "src"_a, nb::kw_only(), "reduce"_a);
  bind_writing(ops, "scatter", Function<Dim, const Tensor&, Scalar, std::string_view>(&scatter),
               InPlace<Dim, const Tensor&, Scalar, std::string_view>(&Methods::scatter_), "",
               "dim"_a, "index"_a, "value"_a, nb::kw_only(), "reduce"_a);
  bind_writing(ops, "scatter_reduce", &scatter_reduce, &Methods::scatter_reduce_,
               "A copy in which the elements of `src` for one place are combined by `reduce`: sum, "
               "prod, mean,\namax or amin, with that element of the input if include_self.",
               "dim"_a, "index"_a, "src"_a, "reduce"_a, nb::kw_only(), "include_self"_a = true);
}

void bind_slices(OpBinder& ops) {
  bind_writing(ops, "index_add", &index_add, &Methods::index_add_,
               "A copy y with y[index[i]] += alpha * source[i], for dim 0.", "dim"_a, "index"_a,
               "source"_a, nb::kw_only(), "alpha"_a = 1);
  bind_writing(ops, "index_copy", &index_copy, &Methods::index_copy_,
               "A copy y with y[index[i]] = source[i], for dim 0.", "dim"_a, "index"_a, "source"_a);
  using Dim = std::int64_t;
  bind_writing(ops, "index_fill", Function<Dim, const Tensor&, const Tensor&>(&index_fill),
               InPlace<Dim, const Tensor&, const Tensor&>(&Methods::index_fill_),
               "A copy whose slices that `index` lists are filled with a value.", "dim"_a,
               "index"_a, "value"_a);
  bind_writing(ops, "index_fill", Function<Dim, const Tensor&, Scalar>(&index_fill),
               InPlace<Dim, const Tensor&, Scalar>(&Methods::index_fill_), "", "dim"_a, "index"_a,
               "value"_a);
}

}  // namespace

void bind_composed_writing(nb::module_& module, TensorClass& tensor) {
  OpBinder ops(module, tensor);
  bind_scatter(ops);
  bind_slices(ops);
  bind_writing(ops, "masked_scatter", &masked_scatter, &Methods::masked_scatter_,
               "A copy with the first elements of `source` where mask is True, in row-major order.",
               "mask"_a, "source"_a);
}

}  // namespace halfgrad::python
