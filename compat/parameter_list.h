#pragma once

#include <halfgrad/compat/names.h>

#include <cstddef>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <halfgrad/core/fail.h>
#include <halfgrad/nn/module.h>

namespace halfgrad::nn {

/// Parameters by position, registered as "0", "1", ... It is not called itself.
class ParameterList : public Callable<ParameterList> {
 public:
  template <std::same_as<std::nullptr_t> T>
  ParameterList(T empty) : Callable(empty) {}
  // A move copies, so the handle that was moved from keeps its parameters.
  ParameterList(const ParameterList&) = default;
  ParameterList& operator=(const ParameterList&) = default;
  template <std::same_as<Tensor>... Tensors>
  explicit ParameterList(const Tensors&... parameters) : Callable("ParameterList") {
    (append(parameters), ...);
  }

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  /// Prints names, dtypes and shapes.
  void pretty_print(std::ostream& out) const override;

  /// Keeps requires_grad of the tensor.
  void append(const Tensor& parameter);
  void append(const OrderedDict<std::string, Tensor>::Item& item) { append(item.value()); }
  template <class Range>
  void extend(const Range& parameters) {
    for (const auto& parameter : parameters) append(parameter);
  }
  ParameterList& operator+=(const ParameterList& other) {
    extend(other.parameters_->values());
    return *this;
  }

  /// Throws std::out_of_range.
  Tensor& at(std::size_t index) const {
    if (index < size()) return (*parameters_)[index].value();
    halfgrad::detail::fail<std::out_of_range>(
        "ParameterList", "Index out of range: expected a position in [0, {}), got {}", size(),
        index);
  }
  Tensor& operator[](std::size_t index) const { return at(index); }
  std::size_t size() const noexcept { return parameters_->size(); }
  bool is_empty() const noexcept { return !has_state() || parameters_->is_empty(); }
  auto begin() const { return parameters_->begin(); }
  auto end() const { return parameters_->end(); }

 private:
  using Parameters = OrderedDict<std::string, Tensor>;
  std::shared_ptr<Parameters> parameters_ = std::make_shared<Parameters>();
};

/// Parameters by name, in the order in which they were added. It is not called itself.
class ParameterDict : public Callable<ParameterDict> {
 public:
  using Items = OrderedDict<std::string, Tensor>;

  template <std::same_as<std::nullptr_t> T>
  ParameterDict(T empty) : Callable(empty) {}
  // A move copies, so the handle that was moved from keeps its parameters.
  ParameterDict(const ParameterDict&) = default;
  ParameterDict& operator=(const ParameterDict&) = default;
  ParameterDict() : Callable("ParameterDict") {}
  explicit ParameterDict(const Items& parameters) : ParameterDict() { update(parameters); }

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  /// Prints names, dtypes and shapes.
  void pretty_print(std::ostream& out) const override;

  /// Keeps requires_grad of the tensor, and returns it. Throws std::invalid_argument for a name
  /// that is taken.
  Tensor& insert(const std::string& key, const Tensor& parameter);
  /// Removes a parameter and returns it. Throws std::invalid_argument for an unknown name.
  Tensor pop(const std::string& key);
  void clear();
  /// Adds parameters; one whose name is known takes the place of the old one.
  void update(const Items& parameters);
  void update(const ParameterDict& other) { update(*other.parameters_); }

  /// Throws std::out_of_range for an unknown name.
  Tensor& get(const std::string& key) const { return (*parameters_)[key]; }
  using Callable::get;
  Tensor& operator[](const std::string& key) const { return get(key); }
  bool contains(const std::string& key) const noexcept { return parameters_->contains(key); }
  std::vector<std::string> keys() const { return parameters_->keys(); }
  std::vector<Tensor> values() const { return parameters_->values(); }
  std::size_t size() const noexcept { return parameters_->size(); }
  bool empty() const noexcept { return parameters_->is_empty(); }
  auto begin() const { return parameters_->begin(); }
  auto end() const { return parameters_->end(); }

 private:
  std::shared_ptr<Items> parameters_ = std::make_shared<Items>();
};

}  // namespace halfgrad::nn
