#include <halfgrad/compat/serialize/archive.h>

#include <istream>
#include <iterator>
#include <ostream>
#include <span>
#include <sstream>
#include <stdexcept>

#include <halfgrad/core/fail.h>
#include <halfgrad/io/safetensors.h>

namespace halfgrad::serialize {
namespace {

void expect_new(const io::TensorMap& tensors, const std::string& name) {
  if (!tensors.contains(name)) return;
  detail::fail("OutputArchive", "expected a new name, got \"{}\" twice", name);
}

void move_to(io::TensorMap& tensors, const std::optional<Device>& device) {
  if (!device) return;
  for (auto& [name, tensor] : tensors) tensor = tensor.to(*device);
}

}  // namespace

void OutputArchive::write(const std::string& key, const Tensor& tensor, bool /*is_buffer*/) {
  expect_new(tensors_, key);
  if (!tensor.defined())
    detail::fail("OutputArchive", "expected a tensor for \"{}\", got none", key);
  tensors_.emplace(key, tensor.detach());
}

void OutputArchive::write(const std::string& key, const OutputArchive& group) {
  for (const auto& [name, tensor] : group.tensors_) write(key + "." + name, tensor);
}

void OutputArchive::save_to(const std::string& filename) const {
  io::save_safetensors(filename, tensors_);
}
void OutputArchive::save_to(std::ostream& stream) const { io::write_safetensors(stream, tensors_); }

void OutputArchive::save_to(
    const std::function<std::size_t(const void*, std::size_t)>& write) const {
  std::ostringstream stream;
  save_to(stream);
  const std::string bytes = stream.str();
  const std::size_t taken = write(bytes.data(), bytes.size());
  if (taken != bytes.size()) {
    detail::fail<std::runtime_error>("OutputArchive", "expected {} bytes to be written, got {}",
                                     bytes.size(), taken);
  }
}

void InputArchive::load_from(const std::string& filename, std::optional<Device> device) {
  tensors_ = io::load_safetensors(filename).tensors;
  move_to(tensors_, device);
}

void InputArchive::load_from(std::istream& stream, std::optional<Device> device) {
  const std::string bytes(std::istreambuf_iterator<char>(stream), {});
  load_from(bytes.data(), bytes.size(), device);
}

void InputArchive::load_from(const char* data, std::size_t size, std::optional<Device> device) {
  tensors_ = io::parse_safetensors(std::as_bytes(std::span(data, size)), "stream").tensors;
  move_to(tensors_, device);
}

void InputArchive::load_from(
    const std::function<std::size_t(std::uint64_t, void*, std::size_t)>& read,
    const std::function<std::size_t()>& size, std::optional<Device> device) {
  std::string bytes(size(), '\0');
  const std::size_t count = read(0, bytes.data(), bytes.size());
  if (count != bytes.size()) {
    detail::fail<std::runtime_error>("InputArchive", "expected {} bytes, got {}", bytes.size(),
                                     count);
  }
  load_from(bytes.data(), bytes.size(), device);
}

bool InputArchive::try_read(const std::string& key, Tensor& tensor, bool /*is_buffer*/) {
  const auto found = tensors_.find(key);
  if (found == tensors_.end()) return false;
  if (!tensor.defined()) {
    tensor = found->second;
    return true;
  }
  if (found->second.sizes() != tensor.sizes()) {
    detail::fail("InputArchive", "expected shape {} for \"{}\", got {}", tensor.sizes(), key,
                 found->second.sizes());
  }
  const Array& source = found->second.array();
  tensor.array().copy_(source.to(tensor.device()).to(tensor.dtype()));
  tensor.array().storage()->bump_version();
  return true;
}

bool InputArchive::try_read(const std::string& key, InputArchive& group) {
  InputArchive found;
  const std::string prefix = key + ".";
  for (const auto& [name, tensor] : tensors_) {
    if (name.starts_with(prefix)) found.tensors_.emplace(name.substr(prefix.size()), tensor);
  }
  if (found.tensors_.empty()) return false;
  group = std::move(found);
  return true;
}

void InputArchive::read(const std::string& key, Tensor& tensor, bool is_buffer) {
  if (!try_read(key, tensor, is_buffer)) {
    detail::fail("InputArchive", "expected a tensor \"{}\", got none", key);
  }
}

void InputArchive::read(const std::string& key, InputArchive& group) {
  if (!try_read(key, group)) detail::fail("InputArchive", "expected a group \"{}\", got none", key);
}

std::vector<std::string> InputArchive::tensor_names() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors_) names.push_back(name);
  return names;
}

std::vector<std::string> InputArchive::keys() const {
  std::vector<std::string> keys;
  for (const auto& [name, tensor] : tensors_) {
    std::string key = name.substr(0, name.find('.'));
    if (keys.empty() || keys.back() != key) keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace halfgrad::serialize
