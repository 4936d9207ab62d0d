#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/python/bindings/op_binder.h>

/// Conversions, assignment to all elements, and new tensors like this one.
namespace halfgrad::python {
namespace {

/// PyTorch's argument, which is accepted: copies are ordered on the device's stream anyway.
nb::arg_v non_blocking() { return nb::arg("non_blocking") = false; }
nb::arg_v copy() { return nb::arg("copy") = false; }

/// The result of a conversion; with `copy` it shares no memory with `self`.
Tensor copied_if(bool copy, const Tensor& self, const Tensor& result) {
  return copy && result.is_same(self) ? self.clone() : result;
}

void bind_to(OpBinder& ops) {
  ops.method(
      "to",
      [](const Tensor& self, DType dtype, bool /*non_blocking*/, bool copy) {
        return copied_if(copy, self, self.to(dtype));
      },
      "dtype"_a, non_blocking(), copy(),
      "Converts to a dtype, a device, or both; returns this tensor if it has them, unless `copy`.");
  ops.method(
      "to",
      [](const Tensor& self, const Tensor& other, bool /*non_blocking*/, bool copy) {
        return copied_if(copy, self, self.to(other));
      },
      "other"_a, non_blocking(), copy());
  ops.method(
      "to",
      [](const Tensor& self, std::optional<Device> device, std::optional<DType> dtype,
         bool /*non_blocking*/, bool copy) {
        Tensor result = dtype ? self.to(*dtype) : self;
        if (device) result = dtype ? self.to(*device, *dtype) : self.to(*device);
        return copied_if(copy, self, result);
      },
      "device"_a = nb::none(), "dtype"_a = nb::none(), non_blocking(), copy());
  ops.method(
      "type", [](const Tensor& self, DType dtype) { return self.to(dtype); }, "dtype"_a);
  ops.method(
      "type_as", [](const Tensor& self, const Tensor& other) { return self.type_as(other); },
      "other"_a);
  ops.method("cpu", [](const Tensor& self) { return self.cpu(); });
  ops.method("cuda", [](const Tensor& self) { return self.cuda(); });
  const std::pair<const char*, DType> shorts[] = {
      {"double", kFloat64}, {"float", kFloat32}, {"half", kFloat16}, {"bfloat16", kBFloat16},
      {"long", kInt64},     {"int", kInt32},     {"short", kInt16},  {"char", kInt8},
      {"byte", kUInt8},     {"bool", kBool}};
  for (const auto& [name, dtype] : shorts) {
    ops.method(name, [type = dtype](const Tensor& self) { return self.to(type); });
  }
}

void bind_assignments(OpBinder& ops) {
  ops.in_place(
      "copy_",
      [](Tensor& self, const Tensor& source, bool /*non_blocking*/) -> Tensor& {
        return self.copy_(source);
      },
      "src"_a, non_blocking(), "Overwrites every element with `src`, broadcast and converted.");
  ops.in_place(
      "copy_",
      [](Tensor& self, Scalar source, bool /*non_blocking*/) -> Tensor& {
        return self.fill_(source);
      },
      "src"_a, non_blocking());
  ops.in_place(
      "fill_", [](Tensor& self, Scalar value) -> Tensor& { return self.fill_(value); }, "value"_a);
  ops.in_place("zero_", [](Tensor& self) -> Tensor& { return self.zero_(); });
}

void bind_draws(OpBinder& ops) {
  ops.in_place(
      "normal_",
      [](Tensor& self, double mean, double std, Generator* generator) -> Tensor& {
        const DrawsFrom source(generator);
        return self.normal_(mean, std);
      },
      "mean"_a = 0.0, "std"_a = 1.0, nb::kw_only(), generator_option(),
      "Draws every element from a normal distribution.");
  ops.in_place(
      "uniform_",
      [](Tensor& self, double low, double high, Generator* generator) -> Tensor& {
        const DrawsFrom source(generator);
        return self.uniform_(low, high);
      },
      "low"_a = 0.0, "high"_a = 1.0, nb::kw_only(), generator_option(),
      "Draws every element uniformly from [low, high).");
  ops.in_place(
      "bernoulli_",
      [](Tensor& self, const Tensor& p, Generator* generator) -> Tensor& {
        const DrawsFrom source(generator);
        return self.copy_(rand(self.sizes(), {.device = self.device()}) < p);
      },
      "p"_a, nb::kw_only(), generator_option());
  ops.in_place(
      "bernoulli_",
      [](Tensor& self, double p, Generator* generator) -> Tensor& {
        const DrawsFrom source(generator);
        return self.bernoulli_(p);
      },
      "p"_a = 0.5, nb::kw_only(), generator_option(),
      "Sets every element to 1 with probability p, a number or a tensor of them, else to 0.");
  ops.in_place(
      "random_",
      [](Tensor& self, std::int64_t low, std::int64_t high, Generator* generator) -> Tensor& {
        const DrawsFrom source(generator);
        return self.random_(low, high);
      },
      "low"_a, "high"_a, nb::kw_only(), generator_option(),
      "Draws integers from [low, high); `random_(high)` from [0, high).");
  ops.in_place(
      "random_",
      [](Tensor& self, std::optional<std::int64_t> high, Generator* generator) -> Tensor& {
        const DrawsFrom source(generator);
        return high ? self.random_(*high) : self.random_();
      },
      "high"_a = nb::none(), nb::kw_only(), generator_option());
}

template <class Make>
void bind_new(OpBinder& ops, TensorClass& tensor, const char* name, Make make) {
  ops.method(
      name,
      [make](const Tensor& self, const Shape& size, std::optional<DType> dtype,
             std::optional<Device> device, bool requires_grad) {
        return make(self, size, CreationOptions{dtype, device, requires_grad});
      },
      "size"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(),
      "requires_grad"_a = false,
      "A new tensor with this tensor's dtype and device unless others are given.");
  tensor.def(
      name,
      [make](const Tensor& self, const nb::args& size, std::optional<DType> dtype,
             std::optional<Device> device, bool requires_grad) {
        return make(self, shape_of(size), CreationOptions{dtype, device, requires_grad});
      },
      "size"_a, "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false);
}

}  // namespace

void bind_conversions(nb::module_& module, TensorClass& tensor) {
  OpBinder ops(module, tensor);
  bind_to(ops);
  bind_assignments(ops);
  bind_draws(ops);
  tensor.def(
      "type",
      [](const Tensor& self, const nb::type_object& type) {
        return self.to(nb::cast<DType>(nb::object(type.attr("dtype"))));
      },
      "dtype"_a, "Also of a type such as FloatTensor.");
  tensor.def(
      "new_tensor",
      [](const Tensor& self, nb::handle data, std::optional<DType> dtype,
         std::optional<Device> device, bool requires_grad) {
        return tensor_of(data, dtype.value_or(self.dtype()), device.value_or(self.device()))
            .requires_grad_(requires_grad);
      },
      "data"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(),
      "requires_grad"_a = false, "tensor(data) with this tensor's dtype and device.");
  ops.method(
      "new_full",
      [](const Tensor& self, const Shape& size, Scalar value, std::optional<DType> dtype,
         std::optional<Device> device, bool requires_grad) {
        return self.new_full(size, value, CreationOptions{dtype, device, requires_grad});
      },
      "size"_a, "fill_value"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(),
      "requires_grad"_a = false);
  bind_new(ops, tensor, "new_empty",
           [](const Tensor& self, const Shape& size, const CreationOptions& o) {
             return self.new_empty(size, o);
           });
  bind_new(ops, tensor, "new_zeros",
           [](const Tensor& self, const Shape& size, const CreationOptions& o) {
             return self.new_zeros(size, o);
           });
  bind_new(ops, tensor, "new_ones",
           [](const Tensor& self, const Shape& size, const CreationOptions& o) {
             return self.new_ones(size, o);
           });
}

}  // namespace halfgrad::python
