#pragma once

#include <halfgrad/compat/names.h>

#include <memory>
#include <optional>

#include <halfgrad/nn/module.h>

namespace halfgrad::nn {
namespace detail {

/// A module that takes over all members of another one of its class.
class TakesOver {
 public:
  virtual void take_over(const Module& clone) = 0;

 protected:
  TakesOver() = default;
  TakesOver(const TakesOver&) = default;
  TakesOver& operator=(const TakesOver&) = default;
  ~TakesOver() = default;
};

/// Gives the parameters and buffers of `to` the values, dtypes and devices of those of `from`, and
/// its submodules those of the submodules with the same name. Throws std::invalid_argument if the
/// two do not have the same names.
void copy_tensors(const Module& from, Module& to, const std::optional<Device>& device);

}  // namespace detail

/// Base of a module with clone(). Derived defines reset(), which registers its parameters, buffers
/// and submodules anew and assigns them to its members; its constructors call reset().
template <class Derived>
class Cloneable : public Module, public detail::TakesOver {
 public:
  using Module::Module;

  virtual void reset() = 0;

  /// Copies all members, calls reset(), and copies the values of the tensors.
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    const auto copy = std::make_shared<Derived>(static_cast<const Derived&>(*this));
    Cloneable& base = *copy;
    base.start_anew();
    base.reset();
    detail::copy_tensors(*this, base, device);
    return copy;
  }

 private:
  void take_over(const Module& clone) override {
    static_cast<Derived&>(*this) = dynamic_cast<const Derived&>(clone);
  }
};

}  // namespace halfgrad::nn
