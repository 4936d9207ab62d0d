#pragma once

#include <filesystem>

#include <halfgrad/io/safetensors.h>
#include <halfgrad/nn/module.h>

namespace halfgrad::io {

/// Saves a model's parameters and buffers as a safetensors file:
///     io::save_state_dict("net.safetensors", model.state_dict());
/// Each tensor keeps its dotted name, as "0.weight", so safetensors.torch.load_file reads it, too.
/// `metadata` may hold what else the model's user must know, as the names of classes. Throws as
/// save_safetensors().
void save_state_dict(const std::filesystem::path& path, const nn::StateDict& state,
                     const Metadata& metadata = {});

/// Reads what save_state_dict() saved:
///     model.load_state_dict(io::load_state_dict("net.safetensors"));
/// The tensors are on the CPU, sorted by name. Throws as load_safetensors().
nn::StateDict load_state_dict(const std::filesystem::path& path);

}  // namespace halfgrad::io
