#include <halfgrad/io/checkpoint.h>

#include <halfgrad/core/fail.h>
#include <halfgrad/files/format_error.h>

namespace halfgrad::io {
namespace {

constexpr const char* kVersionKey = "halfgrad.checkpoint";
constexpr const char* kVersion = "1";

const Tensor& find(const TensorMap& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  if (found != tensors.end()) return found->second;
  halfgrad::detail::fail("Checkpoint", "expected \"{}\", got none", name);
}

/// Returns the values of a tensor, which must have the dtype of T and `dims` dimensions.
template <class T>
std::vector<T> values_of(const TensorMap& tensors, const std::string& name, std::int64_t dims) {
  const Tensor& tensor = find(tensors, name);
  if (tensor.dtype() == dtype_of<T>() && tensor.dim() == dims) return tensor.to_vector<T>();
  halfgrad::detail::fail("Checkpoint", "expected {} of {} dimensions for \"{}\", got {} {}",
                         dtype_of<T>(), dims, name, tensor.dtype(), tensor.sizes());
}

template <class T>
Tensor scalar_tensor(T value) {
  const Array array = Array::empty({}, dtype_of<T>());
  *array.data_as<T>() = value;
  return Tensor(array);
}

}  // namespace

void Checkpoint::write(const std::string& name, const Tensor& tensor) {
  tensors[name] = Tensor(tensor.array().to(Device()).clone());
}

void Checkpoint::write(const std::string& name, std::int64_t number) {
  tensors[name] = scalar_tensor(number);
}

void Checkpoint::write_integer(const std::string& name, std::int64_t number, bool is_unsigned) {
  if (is_unsigned && number < 0) {
    halfgrad::detail::fail("Checkpoint", "expected an int64 for \"{}\", got {}", name,
                           static_cast<std::uint64_t>(number));
  }
  write(name, number);
}

void Checkpoint::write(const std::string& name, double number) {
  tensors[name] = scalar_tensor(number);
}

void Checkpoint::write_text(const std::string& name, const std::string& text) {
  metadata[name] = text;
}

void Checkpoint::erase(const std::string& name) {
  constexpr char kAfterSlash = '/' + 1;
  tensors.erase(tensors.lower_bound(name + '/'), tensors.lower_bound(name + kAfterSlash));
}

TensorMap Checkpoint::part(const std::string& name) const {
  const std::string prefix = name + "/";
  TensorMap found;
  for (auto item = tensors.lower_bound(prefix);
       item != tensors.end() && item->first.starts_with(prefix); ++item) {
    found[item->first.substr(prefix.size())] = item->second;
  }
  return found;
}

Tensor Checkpoint::tensor(const std::string& name) const { return find(tensors, name); }

std::int64_t Checkpoint::integer(const std::string& name) const {
  return values_of<std::int64_t>(tensors, name, 0)[0];
}

double Checkpoint::number(const std::string& name) const {
  return values_of<double>(tensors, name, 0)[0];
}

std::vector<std::int64_t> Checkpoint::integers(const std::string& name) const {
  return values_of<std::int64_t>(tensors, name, 1);
}

std::vector<double> Checkpoint::numbers(const std::string& name) const {
  return values_of<double>(tensors, name, 1);
}

const std::string& Checkpoint::text(const std::string& name) const {
  const auto found = metadata.find(name);
  if (found != metadata.end()) return found->second;
  halfgrad::detail::fail("Checkpoint", "expected a text called \"{}\", got none", name);
}

void Checkpoint::require_text(const std::string& name, const std::string& text) const {
  const std::string got = this->text(name);
  if (got == text) return;
  halfgrad::detail::fail("Checkpoint", "expected {} \"{}\", got \"{}\"", name, text,
                         files::cut(got));
}

void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
  Metadata metadata = checkpoint.metadata;
  metadata[kVersionKey] = kVersion;
  save_safetensors(path, checkpoint.tensors, metadata);
}

Checkpoint load_checkpoint(const std::filesystem::path& path) {
  auto [tensors, metadata] = load_safetensors(path);
  const auto version = metadata.extract(kVersionKey);
  if (version.empty() || version.mapped() != kVersion) {
    throw FormatError("load_checkpoint", path.string(),
                      {FormatCode::unsupported_version, 0, "a checkpoint of version 1",
                       version.empty() ? "no checkpoint" : "version " + version.mapped()});
  }
  return {std::move(tensors), std::move(metadata)};
}

}  // namespace halfgrad::io
