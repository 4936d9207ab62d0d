#include <halfgrad/nn/init.h>

#include <halfgrad/core/fail.h>
#include <halfgrad/optim/clip_grad.h>
#include <halfgrad/python/bindings/op_binder.h>

/// nn.init and nn.utils.
namespace halfgrad::python {
namespace {

using Fill = Tensor (*)(Tensor);
using FillByGain = Tensor (*)(Tensor, double);
using Kaiming = Tensor (*)(Tensor, double, FanMode, Nonlinearity);

FanMode mode_of(const std::string& name) {
  if (name == "fan_in") return kFanIn;
  if (name == "fan_out") return kFanOut;
  detail::fail("init", "expected mode \"fan_in\" or \"fan_out\", got \"{}\"", name);
}

Nonlinearity nonlinearity_of(const std::string& name) {
  constexpr std::pair<const char*, Nonlinearity> kNames[] = {
      {"linear", kLinear}, {"sigmoid", kSigmoid},      {"tanh", kTanh},
      {"relu", kReLU},     {"leaky_relu", kLeakyReLU}, {"selu", kSELU}};
  for (const auto& [known, nonlinearity] : kNames) {
    if (name == known) return nonlinearity;
  }
  detail::fail("init", "expected linear, sigmoid, tanh, relu, leaky_relu or selu, got \"{}\"",
               name);
}

void bind_kaiming(nb::module_& init, const char* name, Kaiming function) {
  init.def(
      name,
      [function](const Tensor& tensor, double a, const std::string& mode,
                 const std::string& nonlinearity, Generator* generator) {
        const DrawsFrom source(generator);
        return function(tensor, a, mode_of(mode), nonlinearity_of(nonlinearity));
      },
      "tensor"_a, "a"_a = 0.0, "mode"_a = "fan_in", "nonlinearity"_a = "leaky_relu",
      generator_option(), "Draws with mean 0 and std gain / sqrt(fan) (He et al., 2015).");
}

void bind_utils(nb::module_& nn) {
  using nn::utils::ScaledGradients;
  nb::module_ utils = nn.def_submodule("utils", "Norms and clipping of gradients.");
  utils.def(
      "clip_grad_norm_",
      [](const std::vector<Tensor>& parameters, double max_norm, double norm_type,
         bool error_if_nonfinite) {
        return nn::utils::clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite);
      },
      "parameters"_a, "max_norm"_a, "norm_type"_a = 2.0, "error_if_nonfinite"_a = false,
      ReleaseGil(),
      "Shrinks all gradients by one factor so that their total norm is at most max_norm, and\n"
      "returns the norm they had. Raises RuntimeError for gradients of a scaled loss: call\n"
      "scaler.unscale_() first.");
  utils.def(
      "clip_grad_norm_",
      [](const Tensor& parameters, double max_norm, double norm_type, bool error_if_nonfinite) {
        return nn::utils::clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite);
      },
      "parameters"_a, "max_norm"_a, "norm_type"_a = 2.0, "error_if_nonfinite"_a = false,
      ReleaseGil());
  utils.def(
      "clip_grad_value_",
      [](const Tensor& parameters, double clip_value) {
        nn::utils::clip_grad_value_(parameters, clip_value);
      },
      "parameters"_a, "clip_value"_a, ReleaseGil());
  utils.def(
      "clip_grad_value_",
      [](const std::vector<Tensor>& parameters, double clip_value) {
        nn::utils::clip_grad_value_(parameters, clip_value);
      },
      "parameters"_a, "clip_value"_a, ReleaseGil(),
      "Clamps every element of the gradients to [-clip_value, clip_value].");
  utils.def("get_total_norm", &nn::utils::get_total_norm, "tensors"_a, "norm_type"_a = 2.0,
            "error_if_nonfinite"_a = false, ReleaseGil(),
            "The norm of the vector of the tensors' norms.");
}

}  // namespace

void bind_init(nb::module_& module) {
  nb::module_ nn = nb::borrow<nb::module_>(module.attr("nn"));
  nb::module_ init = nn.def_submodule("init", "Functions that fill a tensor in place.");
  const auto drawing = [](auto function) {
    return [function](const Tensor& tensor, double a, double b, Generator* generator) {
      const DrawsFrom source(generator);
      return function(tensor, a, b);
    };
  };
  init.def("uniform_", drawing(&nn::init::uniform_), "tensor"_a, "a"_a = 0.0, "b"_a = 1.0,
           generator_option());
  init.def("normal_", drawing(&nn::init::normal_), "tensor"_a, "mean"_a = 0.0, "std"_a = 1.0,
           generator_option());
  init.def("constant_", &nn::init::constant_, "tensor"_a, "val"_a);
  const std::pair<const char*, Fill> fills[] = {
      {"zeros_", &nn::init::zeros_}, {"ones_", &nn::init::ones_}, {"eye_", &nn::init::eye_}};
  for (const auto& [name, fill] : fills) init.def(name, fill, "tensor"_a);
  const std::pair<const char*, FillByGain> by_gain[] = {
      {"xavier_uniform_", &nn::init::xavier_uniform_},
      {"xavier_normal_", &nn::init::xavier_normal_},
      {"orthogonal_", &nn::init::orthogonal_}};
  for (const auto& [name, fill] : by_gain) {
    init.def(
        name,
        [fill = fill](const Tensor& tensor, double gain, Generator* generator) {
          const DrawsFrom source(generator);
          return fill(tensor, gain);
        },
        "tensor"_a, "gain"_a = 1.0, generator_option());
  }
  bind_kaiming(init, "kaiming_uniform_", &nn::init::kaiming_uniform_);
  bind_kaiming(init, "kaiming_normal_", &nn::init::kaiming_normal_);
  init.def(
      "calculate_gain",
      [](const std::string& nonlinearity, double param) {
        return nn::init::calculate_gain(nonlinearity_of(nonlinearity), param);
      },
      "nonlinearity"_a, "param"_a = 0.01);
  bind_utils(nn);
}

}  // namespace halfgrad::python
