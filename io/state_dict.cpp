#include <halfgrad/io/state_dict.h>

namespace halfgrad::io {

void save_state_dict(const std::filesystem::path& path, const nn::StateDict& state,
                     const Metadata& metadata) {
  TensorMap tensors;
  for (const auto& [name, tensor] : state) tensors[name] = tensor;
  save_safetensors(path, tensors, metadata);
}

nn::StateDict load_state_dict(const std::filesystem::path& path) {
  nn::StateDict state;
  for (const auto& [name, tensor] : load_safetensors(path).tensors) state.insert(name, tensor);
  return state;
}

}  // namespace halfgrad::io
