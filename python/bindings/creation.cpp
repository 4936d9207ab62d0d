#include <halfgrad/autograd/creation.h>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/python/bindings/op_binder.h>

/// New tensors.
namespace halfgrad::python {
namespace {

using OptionalDType = std::optional<DType>;
using OptionalDevice = std::optional<Device>;

/// Binds a function of a shape twice: `zeros((2, 3))` and `zeros(2, 3)`.
template <class Make>
void bind_sized(nb::module_& module, const char* name, Make make, const char* doc) {
  module.def(
      name,
      [make](const Shape& size, OptionalDType dtype, OptionalDevice device, bool requires_grad) {
        return make(size, CreationOptions{dtype, device, requires_grad});
      },
      "size"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(),
      "requires_grad"_a = false, ReleaseGil(), doc);
  module.def(
      name,
      [make](const nb::args& size, OptionalDType dtype, OptionalDevice device, bool requires_grad) {
        return make(shape_of(size), CreationOptions{dtype, device, requires_grad});
      },
      "size"_a, "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false);
}

/// Binds a random function of a shape twice. `generator` is the source of its values.
template <class Make>
void bind_random_sized(nb::module_& module, const char* name, Make make, const char* doc) {
  module.def(
      name,
      [make](const Shape& size, Generator* generator, OptionalDType dtype, OptionalDevice device,
             bool requires_grad) {
        const DrawsFrom source(generator);
        return make(size, CreationOptions{dtype, device, requires_grad});
      },
      "size"_a, nb::kw_only(), generator_option(), "dtype"_a = nb::none(), "device"_a = nb::none(),
      "requires_grad"_a = false, ReleaseGil(), doc);
  module.def(
      name,
      [make](const nb::args& size, Generator* generator, OptionalDType dtype, OptionalDevice device,
             bool requires_grad) {
        const DrawsFrom source(generator);
        return make(shape_of(size), CreationOptions{dtype, device, requires_grad});
      },
      "size"_a, generator_option(), "dtype"_a = nb::none(), "device"_a = nb::none(),
      "requires_grad"_a = false);
}

/// Binds a function of given parameters, followed by dtype, device and requires_grad.
template <class Make, class... Extra>
void bind_with_options(nb::module_& module, const char* name, Make make, const Extra&... extra) {
  module.def(name, make, extra..., nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(),
             "requires_grad"_a = false, ReleaseGil());
}

template <class Make>
void bind_like(nb::module_& module, const char* name, Make make, const char* doc) {
  bind_with_options(
      module, name,
      [make](const Tensor& input, OptionalDType dtype, OptionalDevice device, bool requires_grad) {
        return make(input, CreationOptions{dtype, device, requires_grad});
      },
      doc, "input"_a);
}

using Sized = Tensor (*)(const Shape&, const CreationOptions&);
using Like = Tensor (*)(const Tensor&, const CreationOptions&);

void bind_sized_functions(nb::module_& module) {
  bind_sized(module, "empty", Sized(&empty), "Returns a tensor with arbitrary elements.");
  bind_sized(module, "zeros", Sized(&zeros), "Returns a tensor of zeros; float32 by default.");
  bind_sized(module, "ones", Sized(&ones), "Returns a tensor of ones; float32 by default.");
  bind_random_sized(module, "rand", Sized(&rand), "Draws elements uniformly from [0, 1).");
  bind_random_sized(module, "randn", Sized(&randn),
                    "Draws elements from the standard normal distribution.");
  bind_like(module, "empty_like", Like(&empty_like), "empty() with the input's shape and dtype.");
  bind_like(module, "zeros_like", Like(&zeros_like), "zeros() with the input's shape and dtype.");
  bind_like(module, "ones_like", Like(&ones_like), "ones() with the input's shape and dtype.");
  bind_like(module, "rand_like", Like(&rand_like), "rand() with the input's shape and dtype.");
  bind_like(module, "randn_like", Like(&randn_like), "randn() with the input's shape and dtype.");
}

void bind_values(nb::module_& module) {
  bind_with_options(
      module, "full",
      [](const Shape& size, Scalar value, OptionalDType dtype, OptionalDevice device, bool grad) {
        return full(size, value, CreationOptions{dtype, device, grad});
      },
      "size"_a, "fill_value"_a,
      "Fills with a value; float32, int64 or bool as the value by default.");
  bind_with_options(
      module, "full_like",
      [](const Tensor& input, Scalar value, OptionalDType dtype, OptionalDevice device, bool grad) {
        return full_like(input, value, CreationOptions{dtype, device, grad});
      },
      "input"_a, "fill_value"_a);
  bind_with_options(
      module, "arange",
      [](Scalar end, OptionalDType dtype, OptionalDevice device, bool grad) {
        return arange(end, CreationOptions{dtype, device, grad});
      },
      "end"_a);
  bind_with_options(
      module, "arange",
      [](Scalar start, Scalar end, Scalar step, OptionalDType dtype, OptionalDevice device,
         bool grad) {
        return arange(start, end, step, CreationOptions{dtype, device, grad});
      },
      "start"_a, "end"_a, "step"_a = 1,
      "start, start + step, ... before end; int64 if all three are integers.");
  bind_with_options(
      module, "linspace",
      [](Scalar start, Scalar end, std::int64_t steps, OptionalDType dtype, OptionalDevice device,
         bool grad) {
        return linspace(start, end, steps, CreationOptions{dtype, device, grad});
      },
      "start"_a, "end"_a, "steps"_a, "`steps` evenly spaced values, both ends included.");
  bind_with_options(
      module, "eye",
      [](std::int64_t n, std::optional<std::int64_t> m, OptionalDType dtype, OptionalDevice device,
         bool grad) {
        return eye(n, m.value_or(n), CreationOptions{dtype, device, grad});
      },
      "n"_a, "m"_a = nb::none(), "Ones on the diagonal of [n, m]; m is n by default.");
}

void bind_integers(nb::module_& module) {
  const auto bind = [&](const char* name, auto make, const auto&... extra) {
    module.def(name, make, extra..., nb::kw_only(), generator_option(), "dtype"_a = nb::none(),
               "device"_a = nb::none(), "requires_grad"_a = false, ReleaseGil());
  };
  bind(
      "randint",
      [](std::int64_t low, std::int64_t high, const Shape& size, Generator* generator,
         OptionalDType dtype, OptionalDevice device, bool grad) {
        const DrawsFrom source(generator);
        return randint(low, high, size, CreationOptions{dtype, device, grad});
      },
      "low"_a, "high"_a, "size"_a, "Draws integers from [low, high); int64 by default.");
  bind(
      "randint",
      [](std::int64_t high, const Shape& size, Generator* generator, OptionalDType dtype,
         OptionalDevice device, bool grad) {
        const DrawsFrom source(generator);
        return randint(high, size, CreationOptions{dtype, device, grad});
      },
      "high"_a, "size"_a);
  bind(
      "randperm",
      [](std::int64_t n, Generator* generator, OptionalDType dtype, OptionalDevice device,
         bool grad) {
        const DrawsFrom source(generator);
        return randperm(n, CreationOptions{dtype, device, grad});
      },
      "n"_a, "0 ... n-1 in random order; int64 by default.");
}

}  // namespace

Shape shape_of(const nb::args& sizes) {
  Shape shape;
  const bool is_one = sizes.size() == 1;
  if (nb::try_cast(is_one ? nb::handle(sizes[0]) : nb::handle(sizes), shape)) return shape;
  const std::string text = nb::cast<std::string>(nb::str(sizes));
  throw nb::type_error(("expected at most 8 integers or a tuple of them, got " + text).c_str());
}

void bind_creation(nb::module_& module, TensorClass&) {
  bind_sized_functions(module);
  bind_values(module);
  bind_integers(module);
  module.def(
      "tensor",
      [](nb::handle data, OptionalDType dtype, OptionalDevice device, bool requires_grad) {
        return tensor_of(data, dtype, device).requires_grad_(requires_grad);
      },
      "data"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(),
      "requires_grad"_a = false,
      "Copies a number, nested lists, an array of NumPy, or any object with DLPack. Floats get\n"
      "the default dtype and integers int64, if `dtype` is absent; arrays keep their dtype.");
  module.def("set_default_device", &set_default_device, "device"_a,
             "Sets the device of this thread's new tensors and modules.");
  module.def("get_default_device", &get_default_device);
  module.def("set_default_dtype", &set_default_dtype, "d"_a,
             "The dtype of new tensors of floating-point numbers, of the parameters of new layers, "
             "and of integers that an op makes floating-point: float32 at first.");
  module.def("get_default_dtype", &get_default_dtype);
}

}  // namespace halfgrad::python
