#include <utility>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/python/bindings/layer_binder.h>

/// The layers of nn that have parameters.
namespace halfgrad::python {
namespace {

/// The device of a new layer: the default one for None.
Device or_default(std::optional<Device> device) { return device.value_or(get_default_device()); }
using OptionalDevice = std::optional<Device>;
using OptionalDType = std::optional<DType>;
DType or_default(OptionalDType dtype) { return dtype.value_or(get_default_dtype()); }
auto device_option() { return nb::arg("device") = nb::none(); }
auto dtype_option() { return nb::arg("dtype") = nb::none(); }

void keep_embedding(nb::handle self, std::int64_t count, std::int64_t dim,
                    std::optional<std::int64_t> padding, const nn::EmbeddingRows& rows) {
  if (padding && *padding < 0) *padding += count;
  keep_options(self, {{"num_embeddings", nb::int_(count)},
                      {"embedding_dim", nb::int_(dim)},
                      {"padding_idx", nb::cast(padding)},
                      {"max_norm", nb::cast(rows.max_norm)},
                      {"norm_type", nb::float_(rows.norm_type)},
                      {"scale_grad_by_freq", nb::bool_(rows.scale_grad_by_freq)}});
}
void expect_dense(const char* op, bool sparse) {
  if (sparse) detail::fail(op, "expected sparse=False, got True: there are no sparse gradients");
}

void bind_linear(nb::module_& nn) {
  auto linear = bind_layer<nn::Linear>(
      nn, "Linear", "y = x weight^T + bias, from [..., in_features] to [..., out_features].");
  linear.def(
      "__init__",
      [](nb::pointer_and_handle<nn::Linear> self, std::int64_t in, std::int64_t out, bool bias,
         OptionalDevice device, OptionalDType dtype) {
        new (self.p) nn::Linear(in, out, {bias, or_default(dtype), or_default(device)});
        keep_options(self.h, {{"in_features", nb::int_(in)}, {"out_features", nb::int_(out)}});
      },
      "in_features"_a, "out_features"_a, "bias"_a = true, device_option(), dtype_option());
  linear.def(
      "__init__",
      [](nb::pointer_and_handle<nn::Linear> self, const Tensor& weight,
         const OptionalTensor& bias) {
        new (self.p) nn::Linear(weight, or_undefined(bias));
        keep_options(self.h, {{"in_features", nb::int_(weight.size(1))},
                              {"out_features", nb::int_(weight.size(0))}});
      },
      "weight"_a, "bias"_a = nb::none(), "Computes with these tensors.");
  bind_options(linear, {"in_features", "out_features"});
  linear.def("reset_parameters", &nn::Linear::reset_parameters,
             "Draws weight and bias uniformly from [-1, 1] / sqrt(in_features).");
  bind_parameter(linear, "weight", &nn::Linear::weight);
  bind_parameter(linear, "bias", &nn::Linear::bias);
  nn.def(
      "linear_then_relu",
      [](const Tensor& x, const Tensor& weight, const OptionalTensor& bias) -> OptionalTensor {
        Tensor y = nn::detail::linear_then_relu(x, weight, or_undefined(bias));
        return y.defined() ? OptionalTensor(std::move(y)) : std::nullopt;
      },
      "x"_a, "weight"_a, "bias"_a,
      "The output of a Linear and a ReLU in one launch on a GPU, or None where the layers must\n"
      "run one by one.");
}

void bind_embedding(nb::module_& nn) {
  auto embedding = bind_layer<nn::Embedding>(
      nn, "Embedding",
      "Looks up rows of a table: int64 [...] to [..., embedding_dim]. With max_norm a look-up "
      "first\n"
      "scales the rows that it reads down to this norm_type-norm, in place.");
  embedding.def(
      "__init__",
      [](nb::pointer_and_handle<nn::Embedding> self, std::int64_t count, std::int64_t dim,
         std::optional<std::int64_t> padding, std::optional<double> max_norm, double norm_type,
         bool by_frequency, bool sparse, OptionalDevice device, OptionalDType dtype) {
        expect_dense("Embedding", sparse);
        new (self.p) nn::Embedding(
            count, dim,
            {padding, or_default(dtype), or_default(device), max_norm, norm_type, by_frequency});
        keep_embedding(self.h, count, dim, padding, {max_norm, norm_type, by_frequency});
      },
      "num_embeddings"_a, "embedding_dim"_a, "padding_idx"_a = nb::none(),
      "max_norm"_a = nb::none(), "norm_type"_a = 2.0, "scale_grad_by_freq"_a = false,
      "sparse"_a = false, nb::kw_only(), device_option(), dtype_option());
  embedding.def(
      "__init__",
      [](nb::pointer_and_handle<nn::Embedding> self, const Tensor& weight,
         std::optional<std::int64_t> padding, std::optional<double> max_norm, double norm_type,
         bool by_frequency) {
        const nn::EmbeddingRows rows{max_norm, norm_type, by_frequency};
        new (self.p) nn::Embedding(weight, padding, rows);
        keep_embedding(self.h, weight.size(0), weight.size(1), padding, rows);
      },
      "weight"_a, "padding_idx"_a = nb::none(), "max_norm"_a = nb::none(), "norm_type"_a = 2.0,
      "scale_grad_by_freq"_a = false, "Looks up rows of this tensor.");
  embedding.def("reset_parameters", &nn::Embedding::reset_parameters,
                "Draws from the standard normal distribution; zeros in the padding row.");
  embedding.def_static(
      "from_pretrained",
      [type = nb::handle(embedding)](
          const Tensor& embeddings, bool freeze, std::optional<std::int64_t> padding,
          std::optional<double> max_norm, double norm_type, bool by_frequency, bool sparse) {
        expect_dense("Embedding", sparse);
        const Tensor weight = embeddings.detach().requires_grad_(!freeze);
        return nb::object(nb::borrow(type)(weight, padding, max_norm, norm_type, by_frequency));
      },
      "embeddings"_a, "freeze"_a = true, "padding_idx"_a = nb::none(), "max_norm"_a = nb::none(),
      "norm_type"_a = 2.0, "scale_grad_by_freq"_a = false, "sparse"_a = false,
      "A layer that looks up rows of this table, which is trained unless `freeze`.");
  bind_options(embedding, {"num_embeddings", "embedding_dim", "padding_idx", "max_norm",
                           "norm_type", "scale_grad_by_freq"});
  bind_parameter(embedding, "weight", &nn::Embedding::weight);
}

void bind_norms(nb::module_& nn) {
  auto layer_norm = bind_layer<nn::LayerNorm>(nn, "LayerNorm",
                                              "Normalizes the last dimensions; see layer_norm().");
  layer_norm.def(
      "__init__",
      [](nb::pointer_and_handle<nn::LayerNorm> self, const Shape& shape, double eps, bool affine,
         bool bias, OptionalDevice device, OptionalDType dtype) {
        new (self.p) nn::LayerNorm(
            shape,
            nn::LayerNormArguments{eps, affine, bias, or_default(dtype), or_default(device)});
        keep_options(self.h, {{"normalized_shape", nb::cast(shape)},
                              {"eps", nb::float_(eps)},
                              {"elementwise_affine", nb::bool_(affine)},
                              {"bias", nb::bool_(bias)}});
      },
      "normalized_shape"_a, "eps"_a = 1e-5, "elementwise_affine"_a = true, "bias"_a = true,
      device_option(), dtype_option());
  bind_options(layer_norm, {"normalized_shape", "eps", "elementwise_affine"});
  layer_norm.def("reset_parameters", &nn::LayerNorm::reset_parameters);
  bind_parameter(layer_norm, "weight", &nn::LayerNorm::weight);
  bind_parameter(layer_norm, "bias", &nn::LayerNorm::bias);

  auto rms_norm = bind_layer<nn::RMSNorm>(nn, "RMSNorm", "Divides by the root mean square.");
  rms_norm.def(
      "__init__",
      [](nb::pointer_and_handle<nn::RMSNorm> self, const Shape& shape, std::optional<double> eps,
         bool affine, OptionalDevice device, OptionalDType dtype) {
        new (self.p) nn::RMSNorm(
            shape, nn::RMSNormArguments{eps, affine, or_default(dtype), or_default(device)});
        keep_options(self.h, {{"normalized_shape", nb::cast(shape)},
                              {"eps", nb::cast(eps)},
                              {"elementwise_affine", nb::bool_(affine)}});
      },
      "normalized_shape"_a, "eps"_a = nb::none(), "elementwise_affine"_a = true, device_option(),
      dtype_option());
  bind_options(rms_norm, {"normalized_shape", "eps", "elementwise_affine"});
  rms_norm.def("reset_parameters", &nn::RMSNorm::reset_parameters);
  bind_parameter(rms_norm, "weight", &nn::RMSNorm::weight);

  auto group_norm = bind_layer<nn::GroupNorm>(
      nn, "GroupNorm", "Normalizes groups of channels, dimension 1; see group_norm().");
  group_norm.def(
      "__init__",
      [](nb::pointer_and_handle<nn::GroupNorm> self, std::int64_t groups, std::int64_t channels,
         double eps, bool affine, OptionalDevice device, OptionalDType dtype, bool bias) {
        new (self.p) nn::GroupNorm(
            groups, channels,
            nn::GroupNormArguments{eps, affine, or_default(dtype), or_default(device), bias});
        keep_options(self.h, {{"num_groups", nb::int_(groups)},
                              {"num_channels", nb::int_(channels)},
                              {"eps", nb::float_(eps)},
                              {"affine", nb::bool_(affine)},
                              {"bias", nb::bool_(bias)}});
      },
      "num_groups"_a, "num_channels"_a, "eps"_a = 1e-5, "affine"_a = true, device_option(),
      dtype_option(), nb::kw_only(), "bias"_a = true);
  bind_options(group_norm, {"num_groups", "num_channels", "eps", "affine"});
  group_norm.def("reset_parameters", &nn::GroupNorm::reset_parameters);
  bind_parameter(group_norm, "weight", &nn::GroupNorm::weight);
  bind_parameter(group_norm, "bias", &nn::GroupNorm::bias);

  auto batch_norm =
      bind_layer<nn::BatchNorm1d>(nn, "BatchNorm1d", "Normalizes each channel, dimension 1.");
  batch_norm.def(
      "__init__",
      [](nb::pointer_and_handle<nn::BatchNorm1d> self, std::int64_t features, double eps,
         std::optional<double> momentum, bool affine, bool track, OptionalDevice device,
         OptionalDType dtype, bool bias) {
        new (self.p) nn::BatchNorm1d(
            features, {eps, momentum, affine, track, or_default(dtype), or_default(device), bias});
        keep_options(self.h, {{"num_features", nb::int_(features)},
                              {"eps", nb::float_(eps)},
                              {"momentum", nb::cast(momentum)},
                              {"affine", nb::bool_(affine)},
                              {"track_running_stats", nb::bool_(track)},
                              {"bias", nb::bool_(bias)}});
      },
      "num_features"_a, "eps"_a = 1e-5, "momentum"_a.none() = 0.1, "affine"_a = true,
      "track_running_stats"_a = true, device_option(), dtype_option(), nb::kw_only(),
      "bias"_a = true);
  bind_options(batch_norm, {"num_features", "eps", "momentum", "affine", "track_running_stats"});
  batch_norm.def("reset_parameters", &nn::BatchNorm1d::reset_parameters);
  batch_norm.def("reset_running_stats", &nn::BatchNorm1d::reset_running_stats,
                 "Sets running_mean to zeros, running_var to ones, the number of batches to 0.");
  bind_parameter(batch_norm, "weight", &nn::BatchNorm1d::weight);
  bind_parameter(batch_norm, "bias", &nn::BatchNorm1d::bias);
  bind_buffer(batch_norm, "running_mean", &nn::BatchNorm1d::running_mean);
  bind_buffer(batch_norm, "running_var", &nn::BatchNorm1d::running_var);
  bind_buffer(batch_norm, "num_batches_tracked", &nn::BatchNorm1d::num_batches_tracked);
  nn.def(
      "plain_running_averages",
      [](bool on) { return std::exchange(nn::detail::plain_running_averages, on); }, "on"_a,
      "For swa_utils: sets whether batch norms of this thread average without momentum, and "
      "returns what was set.");
}

}  // namespace

void bind_layers(nb::module_& module) {
  nb::module_ nn = nb::borrow<nb::module_>(module.attr("nn"));
  bind_linear(nn);
  bind_embedding(nn);
  bind_norms(nn);
}

}  // namespace halfgrad::python
