#include <limits>

#include <halfgrad/nn/nn.h>
#include <halfgrad/python/bindings/reduction.h>

/// The layers of nn. Each is a Module whose forward is C++.
namespace halfgrad::python {
namespace {

/// The device of a new layer: the default one for None.
Device or_default(std::optional<Device> device) { return device.value_or(get_default_device()); }
using OptionalDevice = std::optional<Device>;

template <class Layer>
nb::class_<Layer, nn::Module> bind_layer(nb::module_& nn, const char* name, const char* doc) {
  return nb::class_<Layer, nn::Module>(nn, name, doc)
      .def(
          "forward", [](const Layer& self, const Tensor& input) { return self.forward(input); },
          "input"_a, ReleaseGil());
}

template <class Layer>
void bind_parameter(nb::class_<Layer, nn::Module>& layer, const char* name, Tensor Layer::*member) {
  layer.def_prop_ro(name, [member](const Layer& self) { return or_none(self.*member); });
}

void bind_linear(nb::module_& nn) {
  auto linear = bind_layer<nn::Linear>(
      nn, "Linear", "y = x weight^T + bias, from [..., in_features] to [..., out_features].");
  linear.def(
      "__init__",
      [](nn::Linear* self, std::int64_t in, std::int64_t out, bool bias, DType dtype,
         OptionalDevice device) {
        new (self) nn::Linear(in, out, {bias, dtype, or_default(device)});
      },
      "in_features"_a, "out_features"_a, "bias"_a = true, nb::kw_only(), "dtype"_a = kFloat32,
      "device"_a = nb::none());
  linear.def("reset_parameters", &nn::Linear::reset_parameters,
             "Draws weight and bias uniformly from [-1, 1] / sqrt(in_features).");
  bind_parameter(linear, "weight", &nn::Linear::weight);
  bind_parameter(linear, "bias", &nn::Linear::bias);

  auto embedding = bind_layer<nn::Embedding>(
      nn, "Embedding", "Looks up rows of a table: int64 [...] to [..., embedding_dim].");
  embedding.def(
      "__init__",
      [](nn::Embedding* self, std::int64_t count, std::int64_t dim,
         std::optional<std::int64_t> padding, DType dtype, OptionalDevice device) {
        new (self) nn::Embedding(count, dim, {padding, dtype, or_default(device)});
      },
      "num_embeddings"_a, "embedding_dim"_a, "padding_idx"_a = nb::none(), nb::kw_only(),
      "dtype"_a = kFloat32, "device"_a = nb::none());
  bind_parameter(embedding, "weight", &nn::Embedding::weight);
}

void bind_norms(nb::module_& nn) {
  auto layer_norm = bind_layer<nn::LayerNorm>(nn, "LayerNorm",
                                              "Normalizes the last dimensions; see layer_norm().");
  layer_norm.def(
      "__init__",
      [](nn::LayerNorm* self, const Shape& shape, double eps, bool affine, bool bias, DType dtype,
         OptionalDevice device) {
        new (self) nn::LayerNorm(
            shape, nn::LayerNormOptions{eps, affine, bias, dtype, or_default(device)});
      },
      "normalized_shape"_a, "eps"_a = 1e-5, "elementwise_affine"_a = true, "bias"_a = true,
      nb::kw_only(), "dtype"_a = kFloat32, "device"_a = nb::none());
  bind_parameter(layer_norm, "weight", &nn::LayerNorm::weight);
  bind_parameter(layer_norm, "bias", &nn::LayerNorm::bias);

  auto rms_norm = bind_layer<nn::RMSNorm>(nn, "RMSNorm", "Divides by the root mean square.");
  rms_norm.def(
      "__init__",
      [](nn::RMSNorm* self, const Shape& shape, std::optional<double> eps, bool affine, DType dtype,
         OptionalDevice device) {
        new (self) nn::RMSNorm(shape, nn::RMSNormOptions{eps, affine, dtype, or_default(device)});
      },
      "normalized_shape"_a, "eps"_a = nb::none(), "elementwise_affine"_a = true, nb::kw_only(),
      "dtype"_a = kFloat32, "device"_a = nb::none());
  bind_parameter(rms_norm, "weight", &nn::RMSNorm::weight);

  auto batch_norm =
      bind_layer<nn::BatchNorm1d>(nn, "BatchNorm1d", "Normalizes each channel, dimension 1.");
  batch_norm.def(
      "__init__",
      [](nn::BatchNorm1d* self, std::int64_t features, double eps, std::optional<double> momentum,
         bool affine, bool track, DType dtype, OptionalDevice device) {
        new (self)
            nn::BatchNorm1d(features, {eps, momentum, affine, track, dtype, or_default(device)});
      },
      "num_features"_a, "eps"_a = 1e-5, "momentum"_a = 0.1, "affine"_a = true,
      "track_running_stats"_a = true, nb::kw_only(), "dtype"_a = kFloat32, "device"_a = nb::none());
  bind_parameter(batch_norm, "weight", &nn::BatchNorm1d::weight);
  bind_parameter(batch_norm, "bias", &nn::BatchNorm1d::bias);
  bind_parameter(batch_norm, "running_mean", &nn::BatchNorm1d::running_mean);
  bind_parameter(batch_norm, "running_var", &nn::BatchNorm1d::running_var);
}

template <class Layer>
void bind_plain(nb::module_& nn, const char* name, const char* doc) {
  bind_layer<Layer>(nn, name, doc).def(nb::init<>());
}

void bind_activations(nb::module_& nn) {
  bind_plain<nn::Identity>(nn, "Identity", "Returns its input.");
  bind_plain<nn::ReLU>(nn, "ReLU", "max(x, 0).");
  bind_plain<nn::Sigmoid>(nn, "Sigmoid", "1 / (1 + e^-x).");
  bind_plain<nn::Tanh>(nn, "Tanh", "The hyperbolic tangent.");
  bind_plain<nn::SiLU>(nn, "SiLU", "x * sigmoid(x).");
  bind_layer<nn::LeakyReLU>(nn, "LeakyReLU", "x for x > 0, else negative_slope * x.")
      .def(nb::init<double>(), "negative_slope"_a = 0.01);
  bind_layer<nn::ELU>(nn, "ELU", "x for x > 0, else alpha * (e^x - 1).")
      .def(nb::init<double>(), "alpha"_a = 1.0);
  bind_layer<nn::GELU>(nn, "GELU", "x Phi(x), exact (\"none\") or \"tanh\".")
      .def(nb::init<std::string>(), "approximate"_a = "none");
  bind_layer<nn::Softplus>(nn, "Softplus", "log(1 + exp(beta x)) / beta.")
      .def(nb::init<double, double>(), "beta"_a = 1.0,
           "threshold"_a = std::numeric_limits<double>::infinity());
  bind_layer<nn::Softmax>(nn, "Softmax", "softmax() along `dim`.")
      .def(nb::init<std::int64_t>(), "dim"_a);
  bind_layer<nn::LogSoftmax>(nn, "LogSoftmax", "log_softmax() along `dim`.")
      .def(nb::init<std::int64_t>(), "dim"_a);
  bind_layer<nn::Flatten>(nn, "Flatten", "Merges dimensions; [n, a, b] becomes [n, a * b].")
      .def(nb::init<std::int64_t, std::int64_t>(), "start_dim"_a = 1, "end_dim"_a = -1);
  bind_layer<nn::Dropout>(
      nn, "Dropout", "In training zeroes elements with probability p and divides others by 1 - p.")
      .def(nb::init<double>(), "p"_a = 0.5);
}

}  // namespace

void bind_layers(nb::module_& module) {
  nb::module_ nn = nb::borrow<nb::module_>(module.attr("nn"));
  bind_linear(nn);
  bind_norms(nn);
  bind_activations(nn);
}

}  // namespace halfgrad::python
