#pragma once

#include <sstream>
#include <string>

#include <halfgrad/amp/inspector/named_model.h>
#include <halfgrad/python/bindings/bindings.h>

namespace halfgrad::python {

/// The text that operator<< prints.
template <class T>
std::string printed(const T& value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

inline amp::NamedModel named(const nn::Module* model) {
  return model ? amp::NamedModel(*model) : amp::NamedModel();
}

void bind_inspector_observers(nb::module_& inspector);

}  // namespace halfgrad::python
