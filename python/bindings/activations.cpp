#include <limits>
#include <string>

#include <halfgrad/nn/nn.h>
#include <halfgrad/python/bindings/layer_binder.h>

/// The layers of nn without parameters.
namespace halfgrad::python {
namespace {

/// A layer without options.
template <class Layer>
void bind_plain(nb::module_& nn, const char* name, const char* doc) {
  bind_layer<Layer>(nn, name, doc).def("__init__", [](nb::pointer_and_handle<Layer> self) {
    new (self.p) Layer();
    keep_options(self.h, {});
  });
}

/// A layer whose constructor takes an option of this name, with this default.
template <class Layer, class Option>
void bind_with_option(nb::module_& nn, const char* name, const char* doc, nb::arg_v option,
                      const char* option_name) {
  auto layer = bind_layer<Layer>(nn, name, doc);
  layer.def(
      "__init__",
      [option_name](nb::pointer_and_handle<Layer> self, const Option& value) {
        new (self.p) Layer(value);
        keep_options(self.h, {{option_name, nb::cast(value)}});
      },
      option);
  bind_options(layer, {option_name});
}

/// The same, with the option `inplace`: the layer then overwrites its input.
template <class Layer, class Option>
void bind_in_place(nb::module_& nn, const char* name, const char* doc, nb::arg_v option,
                   const char* option_name) {
  auto layer = bind_layer<Layer>(nn, name, doc);
  layer.def(
      "__init__",
      [option_name](nb::pointer_and_handle<Layer> self, const Option& value, bool inplace) {
        new (self.p) Layer(value, inplace);
        keep_options(self.h, {{option_name, nb::cast(value)}, {"inplace", nb::bool_(inplace)}});
      },
      option, "inplace"_a = false);
  bind_options(layer, {option_name, "inplace"});
}

template <class Layer, class Option>
void bind_with_two(nb::module_& nn, const char* name, const char* doc, nb::arg_v first,
                   nb::arg_v second, const char* first_name, const char* second_name) {
  auto layer = bind_layer<Layer>(nn, name, doc);
  layer.def(
      "__init__",
      [=](nb::pointer_and_handle<Layer> self, const Option& one, const Option& two) {
        new (self.p) Layer(one, two);
        keep_options(self.h, {{first_name, nb::cast(one)}, {second_name, nb::cast(two)}});
      },
      first, second);
  bind_options(layer, {first_name, second_name});
}

/// The layer in C++ never overwrites its input.
void bind_silu(nb::module_& nn) {
  nb::class_<nn::SiLU, nn::Module> layer(nn, "SiLU",
                                         "x * sigmoid(x), written into x if `inplace`.");
  layer.def(
      "__init__",
      [](nb::pointer_and_handle<nn::SiLU> self, bool inplace) {
        new (self.p) nn::SiLU();
        keep_options(self.h, {{"inplace", nb::bool_(inplace)}});
      },
      "inplace"_a = false);
  layer.def(
      "forward",
      [](nb::handle_t<nn::SiLU> self, const Tensor& input) {
        const bool inplace = read<bool>(self.attr("inplace"), "SiLU", "inplace");
        const nb::gil_scoped_release release;
        return inplace ? input.copy_(silu(input.clone())) : silu(input);
      },
      "input"_a);
  bind_options(layer, {"inplace"});
}

void bind_with_options(nb::module_& nn) {
  bind_with_option<nn::ReLU, bool>(nn, "ReLU", "max(x, 0), written into x if `inplace`.",
                                   "inplace"_a = false, "inplace");
  bind_plain<nn::Sigmoid>(nn, "Sigmoid", "1 / (1 + e^-x).");
  bind_plain<nn::Tanh>(nn, "Tanh", "The hyperbolic tangent.");
  bind_silu(nn);
  bind_in_place<nn::LeakyReLU, double>(nn, "LeakyReLU", "x for x > 0, else negative_slope * x.",
                                       "negative_slope"_a = 0.01, "negative_slope");
  bind_in_place<nn::ELU, double>(nn, "ELU", "x for x > 0, else alpha * (e^x - 1).", "alpha"_a = 1.0,
                                 "alpha");
  bind_with_option<nn::GELU, std::string>(nn, "GELU", "x Phi(x), exact (\"none\") or \"tanh\".",
                                          "approximate"_a = "none", "approximate");
  bind_with_two<nn::Softplus, double>(
      nn, "Softplus", "log(1 + exp(beta x)) / beta.", "beta"_a = 1.0,
      "threshold"_a = std::numeric_limits<double>::infinity(), "beta", "threshold");
  bind_with_two<nn::Flatten, std::int64_t>(
      nn, "Flatten", "Merges dimensions; [n, a, b] becomes [n, a * b].", "start_dim"_a = 1,
      "end_dim"_a = -1, "start_dim", "end_dim");
  bind_in_place<nn::Dropout, double>(
      nn, "Dropout", "In training zeroes elements with probability p and divides others by 1 - p.",
      "p"_a = 0.5, "p");
}

/// A layer along a dimension that has no default.
template <class Layer>
void bind_along(nb::module_& nn, const char* name, const char* doc) {
  auto layer = bind_layer<Layer>(nn, name, doc);
  layer.def(
      "__init__",
      [](nb::pointer_and_handle<Layer> self, std::int64_t dim) {
        new (self.p) Layer(dim);
        keep_options(self.h, {{"dim", nb::int_(dim)}});
      },
      "dim"_a);
  bind_options(layer, {"dim"});
}

void bind_identity(nb::module_& nn) {
  bind_layer<nn::Identity>(nn, "Identity", "Returns its input; ignores arguments as PyTorch's.")
      .def("__init__",
           [](nb::pointer_and_handle<nn::Identity> self, const nb::args&, const nb::kwargs&) {
             new (self.p) nn::Identity();
             keep_options(self.h, {});
           });
}

}  // namespace

void bind_activations(nb::module_& module) {
  nb::module_ nn = nb::borrow<nb::module_>(module.attr("nn"));
  bind_with_options(nn);
  bind_along<nn::Softmax>(nn, "Softmax", "softmax() along `dim`.");
  bind_along<nn::LogSoftmax>(nn, "LogSoftmax", "log_softmax() along `dim`.");
  bind_identity(nn);
}

}  // namespace halfgrad::python
