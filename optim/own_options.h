#pragma once

#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include <halfgrad/autograd/tensor.h>

/// Base classes of libtorch for an optimizer of your own: its options, and its state of a
/// parameter.
namespace halfgrad::serialize {

class InputArchive;   // compat/serialize/archive.h
class OutputArchive;  // compat/serialize/archive.h

}  // namespace halfgrad::serialize

namespace halfgrad::optim {

class Optimizer;
struct ParamGroup;

/// Options of a group of parameters. A class of your own derives from OptimizerCloneableOptions.
class OptimizerOptions {
 public:
  virtual ~OptimizerOptions() = default;
  virtual std::unique_ptr<OptimizerOptions> clone() const = 0;

  /// The learning rate, for schedules. These four throw std::logic_error unless they are
  /// overridden.
  virtual double get_lr() const;
  virtual void set_lr(double lr);
  virtual void serialize(serialize::OutputArchive& archive) const;
  virtual void serialize(serialize::InputArchive& archive);

  /// A group of these parameters with a copy of these options.
  virtual ParamGroup with(std::vector<Tensor> params) const;

 protected:
  OptimizerOptions() = default;
  OptimizerOptions(const OptimizerOptions&) = default;
  OptimizerOptions& operator=(const OptimizerOptions&) = default;
};

template <class Derived, class Base = OptimizerOptions>
class OptimizerCloneableOptions : public Base {
 public:
  std::unique_ptr<OptimizerOptions> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }

 protected:
  using Base::Base;
};

/// State that an optimizer keeps for a parameter. A class of your own derives from
/// OptimizerCloneableParamState.
class OptimizerParamState {
 public:
  virtual ~OptimizerParamState() = default;
  virtual std::unique_ptr<OptimizerParamState> clone() const = 0;

  /// They throw std::logic_error unless they are overridden.
  virtual void serialize(serialize::OutputArchive& archive) const;
  virtual void serialize(serialize::InputArchive& archive);

 protected:
  OptimizerParamState() = default;
  OptimizerParamState(const OptimizerParamState&) = default;
  OptimizerParamState& operator=(const OptimizerParamState&) = default;
};

/// Implements clone() by the copy constructor of Derived, a class with an optimizer's state of a
/// parameter.
template <class Derived>
class OptimizerCloneableParamState : public OptimizerParamState {
 public:
  std::unique_ptr<OptimizerParamState> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
};

}  // namespace halfgrad::optim

namespace halfgrad::detail {

/// Options of a class of your own, or none. Copies have options of their own.
class OwnOptions {
 public:
  OwnOptions() = default;
  OwnOptions(std::unique_ptr<optim::OptimizerOptions> options) : options_(std::move(options)) {}
  OwnOptions(OwnOptions&&) = default;
  OwnOptions(const OwnOptions& other) : options_(other.options_ ? other->clone() : nullptr) {}
  OwnOptions& operator=(OwnOptions other) {
    options_ = std::move(other.options_);
    return *this;
  }
  ~OwnOptions() = default;
  explicit operator bool() const { return options_ != nullptr; }
  optim::OptimizerOptions* operator->() const { return options_.get(); }
  optim::OptimizerOptions* get() const { return options_.get(); }

 private:
  std::unique_ptr<optim::OptimizerOptions> options_;
};

/// Functions of compat/ that save and load the optimizers of the library. Every archive sets them.
struct OptimizerArchiving {
  void (*save)(serialize::OutputArchive&, const optim::Optimizer&) = nullptr;
  void (*load)(serialize::InputArchive&, optim::Optimizer&) = nullptr;
};
void set_optimizer_archiving(const OptimizerArchiving& archiving);

}  // namespace halfgrad::detail
