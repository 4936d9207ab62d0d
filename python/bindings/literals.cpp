#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/python/bindings/bindings.h>

/// Tensors from Python's scalars and nested lists.
namespace halfgrad::python {
namespace {

/// The elements of nested lists, in row-major order.
struct Literal {
  Shape sizes;
  std::vector<double> floats;
  std::vector<std::int64_t> integers;
  DType kind = kBool;  ///< the dtype of the elements: bool, int64 or float32
  bool is_empty = true;
};

bool is_list(nb::handle data) {
  return PyList_Check(data.ptr()) != 0 || PyTuple_Check(data.ptr()) != 0 ||
         PyRange_Check(data.ptr()) != 0;
}

void append(Literal& literal, nb::handle element) {
  Scalar number = 0;
  if (!nb::try_cast(element, number)) {
    const std::string type = nb::cast<std::string>(element.type().attr("__name__"));
    throw nb::type_error(("tensor: expected scalars, got an object of type " + type).c_str());
  }
  literal.kind = literal.is_empty ? number.kind() : promote_types(literal.kind, number.kind());
  literal.is_empty = false;
  literal.floats.push_back(number.cast<double>());
  literal.integers.push_back(number.kind() == kFloat32 ? 0 : number.cast<std::int64_t>());
}

Shape read(Literal& literal, nb::handle data) {
  if (!is_list(data)) {
    // Arrays and tensors inside a list.
    if (nb::hasattr(data, "tolist")) return read(literal, nb::object(data.attr("tolist")()));
    append(literal, data);
    return {};
  }
  Shape inner;
  std::int64_t count = 0;
  for (const nb::handle element : nb::borrow(data)) {
    const Shape found = read(literal, element);
    if (count > 0 && found != inner) detail::refuse_ragged_list(inner, found);
    inner = found;
    ++count;
  }
  inner.insert(0, count);
  return inner;
}

Tensor tensor_of_literal(nb::handle data, std::optional<DType> dtype,
                         std::optional<Device> device) {
  Literal literal;
  literal.sizes = read(literal, data);
  if (literal.is_empty) literal.kind = kFloat32;
  const bool is_float = literal.kind == kFloat32;
  const DType kind = is_float ? get_default_dtype() : literal.kind;
  const CreationOptions options{.dtype = dtype.value_or(kind), .device = device};
  const void* const elements = is_float ? static_cast<const void*>(literal.floats.data())
                                        : static_cast<const void*>(literal.integers.data());
  return detail::copy_of(elements, static_cast<std::int64_t>(literal.floats.size()),
                         is_float ? kFloat64 : kInt64, literal.sizes, options);
}

Tensor converted(Tensor tensor, std::optional<DType> dtype, std::optional<Device> device) {
  if (dtype) tensor = tensor.to(*dtype);
  return device ? tensor.to(*device) : tensor;
}

}  // namespace

Tensor tensor_of(nb::handle data, std::optional<DType> dtype, std::optional<Device> device) {
  if (nb::isinstance<Tensor>(data)) {
    const auto source = nb::cast<Tensor>(data).detach();
    const Tensor result = converted(source, dtype, device);
    return result.is_same(source) ? source.clone() : result;
  }
  if (nb::hasattr(data, "__array_interface__")) {
    // A copy by NumPy is row-major and writable, whatever the array was.
    const nb::object numpy = nb::module_::import_("numpy");
    const nb::object copy = numpy.attr("array")(data, "order"_a = "C", "copy"_a = true);
    return converted(tensor_sharing(copy, false), dtype, device);
  }
  if (nb::hasattr(data, "__dlpack__")) {
    return converted(tensor_sharing(data, true), dtype, device);
  }
  return tensor_of_literal(data, dtype, device);
}

}  // namespace halfgrad::python
