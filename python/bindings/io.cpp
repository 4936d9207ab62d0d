#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>

#include <halfgrad/files/replace_file.h>
#include <halfgrad/io/checkpoint.h>
#include <halfgrad/io/npy.h>
#include <halfgrad/python/bindings/bindings.h>

/// Files: safetensors, NumPy's formats and checkpoints.
namespace halfgrad::python {
namespace {

using io::Checkpoint;
using Path = std::filesystem::path;
using CheckpointClass = nb::class_<Checkpoint>;

void bind_tensor_files(nb::module_& io) {
  io.def("save_safetensors", &io::save_safetensors, "path"_a, "tensors"_a,
         "metadata"_a = io::Metadata(), ReleaseGil(),
         "Replaces a safetensors file of named tensors atomically.");
  io.def(
      "load_safetensors",
      [](const Path& path) {
        io::Safetensors file = io::load_safetensors(path);
        return std::pair(file.tensors, file.metadata);
      },
      "path"_a, ReleaseGil(), "Returns the tensors by name, and the metadata.");
  io.def(
      "_replace_file",
      [](const Path& path, const std::vector<nb::bytes>& pieces) {
        std::vector<files::Bytes> bytes;
        for (const nb::bytes& piece : pieces) {
          bytes.push_back({static_cast<const std::byte*>(piece.data()), piece.size()});
        }
        const nb::gil_scoped_release release;
        files::replace_file(path, bytes);
      },
      "path"_a, "pieces"_a, "Replaces a file by these bytes, one after the other, atomically.");
  io.def("save_npy", &io::save_npy, "path"_a, "tensor"_a, ReleaseGil(),
         "Replaces a .npy file of NumPy atomically.");
  io.def("load_npy", &io::load_npy, "path"_a, ReleaseGil());
  io.def("save_npz", &io::save_npz, "path"_a, "tensors"_a, ReleaseGil(),
         "Replaces a .npz file of NumPy atomically.");
  io.def(
      "load_npz",
      [](const Path& path, std::uint64_t max_unpacked_bytes) {
        return io::load_npz(path, {.max_unpacked_bytes = max_unpacked_bytes});
      },
      "path"_a, nb::kw_only(), "max_unpacked_bytes"_a = std::uint64_t{1} << 30, ReleaseGil(),
      "Returns the arrays by name.");
}

/// Binds write() and read() of a part.
template <class Part>
void bind_part(CheckpointClass& checkpoint) {
  checkpoint.def(
      "write",
      [](Checkpoint& self, const std::string& name, const Part& part) { self.write(name, part); },
      "name"_a, "part"_a);
  checkpoint.def(
      "read",
      [](const Checkpoint& self, const std::string& name, Part& part) { self.read(name, part); },
      "name"_a, "part"_a);
}

void bind_checkpoint(nb::module_& io) {
  CheckpointClass checkpoint(
      io, "Checkpoint",
      "A copy of the complete state of a training run, in named parts: write()\n"
      "stores a part, read() restores the object.");
  checkpoint.def(nb::init<>())
      .def_rw("tensors", &Checkpoint::tensors)
      .def_rw("metadata", &Checkpoint::metadata);
  bind_part<nn::Module>(checkpoint);
  bind_part<optim::Optimizer>(checkpoint);
  bind_part<optim::LRScheduler>(checkpoint);
  bind_part<amp::GradScaler>(checkpoint);
  bind_part<Generator>(checkpoint);
  checkpoint
      .def(
          "write",
          [](Checkpoint& self, const std::string& name, const Tensor& part) {
            self.write(name, part);
          },
          "name"_a, "part"_a)
      .def(
          "write",
          [](Checkpoint& self, const std::string& name, std::int64_t part) {
            self.write(name, part);
          },
          "name"_a, "part"_a)
      .def(
          "write",
          [](Checkpoint& self, const std::string& name, double part) { self.write(name, part); },
          "name"_a, "part"_a)
      .def(
          "write",
          [](Checkpoint& self, const std::string& name, const std::string& part) {
            self.write_text(name, part);
          },
          "name"_a, "part"_a)
      .def("tensor", &Checkpoint::tensor, "name"_a)
      .def("integer", &Checkpoint::integer, "name"_a)
      .def("number", &Checkpoint::number, "name"_a)
      .def("text", &Checkpoint::text, "name"_a);
  io.def("save_checkpoint", &io::save_checkpoint, "path"_a, "checkpoint"_a, ReleaseGil(),
         "Replaces the file atomically: after a crash the old or the new checkpoint is complete.");
  io.def("load_checkpoint", &io::load_checkpoint, "path"_a, ReleaseGil());
}

}  // namespace

void bind_io(nb::module_& module) {
  nb::module_ io = module.def_submodule("io", "Files of tensors, and checkpoints.");
  nb::exception<io::FormatError>(io, "FormatError", PyExc_RuntimeError);
  bind_tensor_files(io);
  bind_checkpoint(io);
}

}  // namespace halfgrad::python
