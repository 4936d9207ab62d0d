#pragma once

#include <halfgrad/compat/names.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/compat/serialize/archive.h>
#include <halfgrad/optim/optimizer.h>

/// libtorch's functions that save and load an optimizer with options of its own:
///
///   void save(serialize::OutputArchive& archive) const override {
///     optim::serialize<MyState, MyOptions>(archive, *this);
///   }
namespace halfgrad {
namespace detail {

// Values of options and states. An undefined tensor is left out.
void write_value(serialize::OutputArchive& archive, const std::string& name, const Tensor& value);
void write_value(serialize::OutputArchive& archive, const std::string& name, double value);
void write_value(serialize::OutputArchive& archive, const std::string& name, std::int64_t value);
inline void write_value(serialize::OutputArchive& archive, const std::string& name,
                        std::integral auto value) {
  write_value(archive, name, static_cast<std::int64_t>(value));
}
void write_value(serialize::OutputArchive& archive, const std::string& name,
                 const std::tuple<double, double>& value);
void read_value(serialize::InputArchive& archive, const std::string& name, Tensor& value);
void read_value(serialize::InputArchive& archive, const std::string& name, double& value);
void read_value(serialize::InputArchive& archive, const std::string& name, std::int64_t& value);
void read_value(serialize::InputArchive& archive, const std::string& name, bool& value);
void read_value(serialize::InputArchive& archive, const std::string& name,
                std::tuple<double, double>& value);

void write_groups(serialize::OutputArchive& archive, const optim::Optimizer& optimizer);
/// Throws std::invalid_argument if groups or numbers of parameters differ.
void read_groups(serialize::InputArchive& archive, optim::Optimizer& optimizer);

}  // namespace detail

namespace optim {

/// Writes the options of all groups and the states of all parameters, by their own serialize().
template <class ParamState, class ParamOptions>
void serialize(halfgrad::serialize::OutputArchive& archive, const Optimizer& optimizer) {
  halfgrad::detail::write_groups(archive, optimizer);
}

/// Reads what the function above has written. Throws std::invalid_argument if groups or numbers of
/// parameters differ, or if a name is missing.
template <class ParamState, class ParamOptions>
void serialize(halfgrad::serialize::InputArchive& archive, Optimizer& optimizer) {
  halfgrad::detail::read_groups(archive, optimizer);
  optimizer.state().clear();
  std::int64_t index = 0;
  for (const Tensor& param : optimizer.parameters()) {
    halfgrad::serialize::InputArchive saved;
    if (!archive.try_read("state." + std::to_string(index++), saved)) continue;
    auto state = std::make_unique<ParamState>();
    state->serialize(saved);
    optimizer.state()[param.unsafeGetTensorImpl()] = std::move(state);
  }
}

}  // namespace optim
}  // namespace halfgrad

// NOLINTBEGIN(bugprone-reserved-identifier): libtorch's names
/// Macros for the bodies of serialize(): an option or a state entry by its name.
#define _TORCH_OPTIM_SERIALIZE_TORCH_ARG(name) \
  ::halfgrad::detail::write_value(archive, #name, name())
#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(T, name)              \
  do {                                                           \
    T torch_value{};                                             \
    ::halfgrad::detail::read_value(archive, #name, torch_value); \
    name(torch_value);                                           \
  } while (false)
// NOLINTEND(bugprone-reserved-identifier)
