#pragma once

#include <initializer_list>
#include <utility>

#include <halfgrad/nn/module.h>
#include <halfgrad/python/bindings/bindings.h>

/// Bindings of layers. Each is a Module whose forward is C++.
namespace halfgrad::python {

/// Options of a layer by the names of the constructor's parameters.
using Options = std::initializer_list<std::pair<const char*, nb::object>>;

/// Keeps the options in `self`, for its attributes and for pickling.
inline void keep_options(nb::handle self, const Options& options) {
  nb::dict kept;
  for (const auto& [name, value] : options) kept[name] = value;
  nb::dict attributes = self.attr("__dict__");
  attributes["_options"] = kept;
}

/// Makes options attributes that cannot be set: the layer in C++ has its own copy.
template <class Layer>
void bind_options(nb::class_<Layer, nn::Module>& layer, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    layer.def_prop_ro(name, [name](nb::handle_t<Layer> self) {
      return nb::object(nb::object(self.attr("_options"))[name]);
    });
  }
}

template <class Layer>
nb::class_<Layer, nn::Module> bind_layer(nb::module_& nn, const char* name, const char* doc) {
  return nb::class_<Layer, nn::Module>(nn, name, doc)
      .def(
          "forward", [](const Layer& self, const Tensor& input) { return self.forward(input); },
          "input"_a, ReleaseGil());
}

/// The Python object of a layer's tensor: the same one at each access. `layer` owns it.
inline nb::object object_of(nb::handle layer, const char* name, const Tensor& tensor,
                            const char* class_name) {
  if (!tensor.defined()) return nb::none();
  nb::dict attributes = layer.attr("__dict__");
  if (attributes.contains(name)) {
    const nb::object known = attributes[name];
    if (nb::isinstance<Tensor>(known) && nb::cast<Tensor>(known).is_same(tensor)) return known;
  }
  const nb::object type = nb::module_::import_("halfgrad.nn.module").attr(class_name);
  const nb::object made = type.attr("_of")(tensor);
  attributes[name] = made;
  return made;
}

/// Python's set_attribute() registers the tensor, assigns this property and keeps the object.
template <class Layer>
void bind_tensor_member(nb::class_<Layer, nn::Module>& layer, const char* name,
                        Tensor Layer::*member, const char* class_name) {
  layer.def_prop_rw(
      name,
      [=](nb::handle_t<Layer> self) {
        const Tensor& tensor = nb::cast<Layer&>(self).*member;
        return nb::handle_t<Tensor>(object_of(self, name, tensor, class_name).ptr());
      },
      [=](Layer& self, const OptionalTensor& value) { self.*member = or_undefined(value); },
      nb::for_setter(nb::arg("value").none()));
}

template <class Layer>
void bind_parameter(nb::class_<Layer, nn::Module>& layer, const char* name, Tensor Layer::*member) {
  bind_tensor_member(layer, name, member, "Parameter");
}
template <class Layer>
void bind_buffer(nb::class_<Layer, nn::Module>& layer, const char* name, Tensor Layer::*member) {
  bind_tensor_member(layer, name, member, "Buffer");
}

}  // namespace halfgrad::python
