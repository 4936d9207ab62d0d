#include <halfgrad/compat/creation.h>

#include <halfgrad/python/bindings/op_binder.h>

/// Tensors of random elements with given means or probabilities.
namespace halfgrad::python {

void bind_distributions(nb::module_& module) {
  module.def(
      "normal",
      [](double mean, double std, const Shape& size, Generator* generator,
         std::optional<DType> dtype, std::optional<Device> device, bool requires_grad) {
        const DrawsFrom source(generator);
        TensorOptions options = TensorOptions().requires_grad(requires_grad);
        if (dtype) options = options.dtype(*dtype);
        if (device) options = options.device(*device);
        return normal(mean, std, size, options);
      },
      "mean"_a, "std"_a, "size"_a, nb::kw_only(), generator_option(), "dtype"_a = nb::none(),
      "device"_a = nb::none(), "requires_grad"_a = false, ReleaseGil(),
      "Draws elements from the normal distribution of this mean and standard deviation.");
  module.def(
      "normal",
      [](const Tensor& mean, const Tensor& std, Generator* generator) {
        const DrawsFrom source(generator);
        return normal(mean, std);
      },
      "mean"_a, "std"_a, nb::kw_only(), generator_option(), ReleaseGil(),
      "Draws one element for each mean, for each deviation, or for each pair of the two.");
  module.def(
      "normal",
      [](const Tensor& mean, double std, Generator* generator) {
        const DrawsFrom source(generator);
        return normal(mean, std);
      },
      "mean"_a, "std"_a = 1.0, nb::kw_only(), generator_option(), ReleaseGil());
  module.def(
      "normal",
      [](double mean, const Tensor& std, Generator* generator) {
        const DrawsFrom source(generator);
        return normal(mean, std);
      },
      "mean"_a, "std"_a, nb::kw_only(), generator_option(), ReleaseGil());
  module.def(
      "bernoulli",
      [](const Tensor& input, std::optional<double> p, Generator* generator) {
        const DrawsFrom source(generator);
        return p ? bernoulli(input, *p) : bernoulli(input);
      },
      "input"_a, "p"_a = nb::none(), nb::kw_only(), generator_option(), ReleaseGil(),
      "Returns 1 with the probability of each element, or p, else 0.");
}

}  // namespace halfgrad::python
