#pragma once

#include <halfgrad/compat/names.h>

#include <string>
#include <utility>
#include <vector>

#include <halfgrad/compat/module_holder.h>
#include <halfgrad/compat/serialize/archive.h>
#include <halfgrad/optim/optimizer.h>

/// libtorch's save() and load() of tensors, modules and optimizers, to a file or a stream. The
/// format is safetensors, which contains no code; files of PyTorch's torch.save() have another one.
namespace halfgrad {
namespace serialize {

void write(OutputArchive& archive, const Tensor& tensor);
void write(OutputArchive& archive, const std::vector<Tensor>& tensors);
void write(OutputArchive& archive, const nn::Module& module);
void write(OutputArchive& archive, const optim::Optimizer& optimizer);
template <class M>
void write(OutputArchive& archive, const std::shared_ptr<M>& module) {
  write(archive, *module);
}
template <class M>
void write(OutputArchive& archive, const nn::ModuleHolder<M>& module) {
  write(archive, *module);
}

/// Objects with functions save(OutputArchive&) and load(InputArchive&): samplers, and your own.
template <class T>
concept Archivable = requires(T& object, OutputArchive& output, InputArchive& input) {
  std::as_const(object).save(output);
  object.load(input);
};
void write(OutputArchive& archive, const Archivable auto& object) { object.save(archive); }
void read(InputArchive& archive, Archivable auto& object) { object.load(archive); }

void read(InputArchive& archive, Tensor& tensor);
void read(InputArchive& archive, std::vector<Tensor>& tensors);
void read(InputArchive& archive, nn::Module& module);
void read(InputArchive& archive, optim::Optimizer& optimizer);
template <class M>
void read(InputArchive& archive, std::shared_ptr<M>& module) {
  read(archive, *module);
}
template <class M>
void read(InputArchive& archive, nn::ModuleHolder<M>& module) {
  read(archive, *module);
}

// libtorch's operators: `archive << net` and `archive >> net`.
template <class Value>
concept WritableToArchive = requires(OutputArchive& archive, const Value& value) {
  write(archive, value);
};
template <class Value>
concept ReadableFromArchive = requires(InputArchive& archive, Value& value) {
  read(archive, value);
};
template <WritableToArchive Value>
OutputArchive& operator<<(OutputArchive& archive, const Value& value) {
  write(archive, value);
  return archive;
}
template <ReadableFromArchive Value>
InputArchive& operator>>(InputArchive& archive, Value& value) {
  read(archive, value);
  return archive;
}

}  // namespace serialize

/// `target` is the name of a file or a std::ostream.
template <class Value, class... Target>
void save(const Value& value, Target&&... target) {
  serialize::OutputArchive archive;
  serialize::write(archive, value);
  archive.save_to(std::forward<Target>(target)...);
}

/// The tensors of a list, as in `save({a, b}, "tensors.pt")`; load() appends them to a vector.
template <class... Target>
void save(const std::vector<Tensor>& tensors, Target&&... target) {
  serialize::OutputArchive archive;
  serialize::write(archive, tensors);
  archive.save_to(std::forward<Target>(target)...);
}

/// `source` is the name of a file or a std::istream, and optionally a Device. A module's parameters
/// and buffers keep their dtype and device. Throws std::invalid_argument for a name that is missing
/// and for shapes that differ, io::FormatError for a broken file.
template <class Value, class... Source>
void load(Value& value, Source&&... source) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<Source>(source)...);
  serialize::read(archive, value);
}

}  // namespace halfgrad
