#pragma once

#include <vector>

#include <halfgrad/optim/optimizer.h>
#include <halfgrad/python/bindings/bindings.h>

/// Parameter groups and optimizer states as Python's dictionaries.
namespace halfgrad::python {

/// The groups of an optimizer's first argument: tensors, or dicts with "params" and options.
std::vector<optim::ParamGroup> groups_of(nb::handle params);

/// Throws nb::key_error for an option that the group does not have. set_option() keeps options that
/// halfgrad does not know, unless their names look like typing errors.
nb::object option_of(const optim::ParamGroup& group, const std::string& name);
void set_option(optim::ParamGroup& group, const std::string& name, nb::handle value);
/// The names of the options that the group has, with "params".
std::vector<std::string> option_names(const optim::ParamGroup& group);

/// PyTorch's layout: {"state": {0: {"step": ...}}, "param_groups": [{"params": [0], "lr": ...}]},
/// with the counts "steps" and "skipped_steps" beside them. Reads PyTorch's dictionaries, whose
/// tensors may be those of another package, and older ones with "beta1" and "beta2".
nb::dict dict_of(const optim::OptimizerState& state);
optim::OptimizerState state_of(const nb::dict& dict);
nb::dict dict_of(const optim::ParamState& state);

/// Options that halfgrad does not know, such as a group's name: into a state, and from it.
void add_notes(const nb::dict& state, const std::vector<optim::ParamGroup>& groups);
void load_notes(const nb::dict& state, std::vector<optim::ParamGroup>& groups);

/// PyTorch's choice of an implementation, which is accepted: halfgrad has one, and it is fused.
inline auto implementation(const char* name) { return nb::arg(name) = nb::none(); }
using Ignored = const std::optional<bool>&;

}  // namespace halfgrad::python
