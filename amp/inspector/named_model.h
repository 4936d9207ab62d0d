#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad::amp {

/// The names of a model's parameters and modules, for reports. It holds the parameters and buffers,
/// not the model.
class NamedModel {
 public:
  NamedModel() = default;
  /// Takes any model with the functions of nn::Module: named_parameters(), named_buffers() and
  /// named_modules().
  template <class Model>
  explicit NamedModel(const Model& model) {
    for (const auto& [name, parameter] : model.named_parameters()) add_parameter(name, parameter);
    for (const auto& [name, buffer] : model.named_buffers()) buffers_.push_back(buffer);
    for (const auto& [path, module] : model.named_modules()) {
      modules_.emplace(module->identity(), path);
    }
  }

  const std::vector<std::pair<std::string, Tensor>>& parameters() const { return parameters_; }
  const std::vector<Tensor>& buffers() const { return buffers_; }
  /// The name of a parameter, "" for other tensors.
  std::string name_of(const Tensor& tensor) const;
  /// The dotted path of the innermost module of this model whose operator() this thread runs;
  /// "" outside all modules, and in the outermost.
  std::string running_module() const;

 private:
  void add_parameter(const std::string& name, const Tensor& parameter);

  std::vector<std::pair<std::string, Tensor>> parameters_;
  std::vector<Tensor> buffers_;
  std::unordered_map<const detail::TensorImpl*, std::string> names_;
  std::unordered_map<const void*, std::string> modules_;
};

}  // namespace halfgrad::amp
