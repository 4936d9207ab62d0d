#pragma once

#include <halfgrad/compat/names.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/compat/serialize/ivalue.h>
#include <halfgrad/io/tensor_map.h>

/// libtorch's archives: named tensors in nested groups. The file is a safetensors file in which the
/// tensor "weight" of the group "fc" is called "fc.weight".
namespace halfgrad::serialize {

class OutputArchive {
 public:
  OutputArchive();
  /// Adds a tensor, or all tensors of another archive as a group. Throws std::invalid_argument for
  /// a name that is taken, and for an undefined tensor.
  void write(const std::string& key, const Tensor& tensor, bool is_buffer = false);
  void write(const std::string& key, const OutputArchive& group);
  /// Adds a value that is no tensor: `archive.write("epoch", IValue(3))`. Throws
  /// std::invalid_argument for a value of nothing, too.
  void write(const std::string& key, const IValue& value) { write(key, value.toTensor()); }

  /// Throws std::runtime_error if writing fails.
  void save_to(const std::string& filename) const;
  void save_to(std::ostream& stream) const;
  /// Calls `write` with the bytes; it returns how many it has taken.
  void save_to(const std::function<std::size_t(const void*, std::size_t)>& write) const;

 private:
  io::TensorMap tensors_;
};

class InputArchive {
 public:
  InputArchive();
  /// Reads a whole file, with tensors on `device` (the CPU if none is given). Throws
  /// io::FormatError for a broken file.
  void load_from(const std::string& filename, std::optional<Device> device = std::nullopt);
  void load_from(std::istream& stream, std::optional<Device> device = std::nullopt);
  void load_from(const char* data, std::size_t size, std::optional<Device> device = std::nullopt);
  /// Reads `size()` bytes by read(position, buffer, count), which returns how many it has copied.
  void load_from(const std::function<std::size_t(std::uint64_t, void*, std::size_t)>& read,
                 const std::function<std::size_t()>& size,
                 std::optional<Device> device = std::nullopt);

  /// Gives an undefined `tensor` the tensor with that name, or a defined one its elements,
  /// converted to its dtype and device. Throws std::invalid_argument if the name is unknown or the
  /// shapes differ.
  void read(const std::string& key, Tensor& tensor, bool is_buffer = false);
  /// Returns the group with that name. Throws std::invalid_argument if there is none.
  void read(const std::string& key, InputArchive& group);
  void read(const std::string& key, IValue& value);
  /// These return false where read() throws for an unknown name.
  bool try_read(const std::string& key, Tensor& tensor, bool is_buffer = false);
  bool try_read(const std::string& key, InputArchive& group);
  bool try_read(const std::string& key, IValue& value);
  /// The names of all tensors, those of groups as "group.name".
  std::vector<std::string> tensor_names() const;
  /// The names of tensors and groups at this level.
  std::vector<std::string> keys() const;

 private:
  io::TensorMap tensors_;
};

inline void InputArchive::read(const std::string& key, IValue& value) {
  Tensor tensor;
  read(key, tensor);
  value = IValue(std::move(tensor));
}

inline bool InputArchive::try_read(const std::string& key, IValue& value) {
  Tensor tensor;
  if (!try_read(key, tensor)) return false;
  value = IValue(std::move(tensor));
  return true;
}

}  // namespace halfgrad::serialize
