#include <halfgrad/autograd/mlp.h>
#include <halfgrad/core/device.h>
#include <halfgrad/core/dtype.h>
#include <halfgrad/core/gemm.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/python/bindings/bindings.h>

/// Dtypes, devices and threads.
namespace halfgrad::python {
namespace {

/// The dtype's name, changed if Python has a type of that name: stubs use both.
std::string attribute(DType type) { return type == kBool ? "bool_" : std::string(name(type)); }

void bind_dtype(nb::module_& module) {
  nb::enum_<DType> dtype(module, "dtype", "The type of a tensor's elements.");
  for (const DType type : kAllDTypes) dtype.value(attribute(type).c_str(), type);
  dtype.def("__repr__", [](DType type) { return "halfgrad." + std::string(name(type)); })
      .def("__str__", [](DType type) { return "halfgrad." + std::string(name(type)); })
      .def_prop_ro("itemsize", &item_size, "Bytes per element.")
      .def_prop_ro("is_floating_point", &halfgrad::is_floating_point)
      .def_prop_ro("is_complex", [](DType) { return false; })
      .def_prop_ro("is_signed", [](DType type) { return type != kBool && type != kUInt8; })
      .def_prop_ro("roundoff", &roundoff,
                   "Largest relative error of one rounding; 0 for integers.");
  for (const DType type : kAllDTypes) module.attr(attribute(type).c_str()) = nb::cast(type);
  module.def("promote_types", &promote_types, "type1"_a, "type2"_a,
             "Returns the dtype of an operation on tensors of both dtypes.");
}

void bind_device(nb::module_& module) {
  nb::class_<Device>(
      module, "device",
      "The CPU (\"cpu\") or a GPU (\"cuda\", \"cuda:1\"). Functions take the text, too.")
      .def(nb::init_implicit<std::string_view>(), "device"_a)
      .def(
          "__init__",
          [](Device* self, std::string_view type, int index) {
            new (self) Device(Device(type).type(), index);
          },
          "type"_a, "index"_a = 0)
      .def_prop_ro("type", [](Device device) { return device.is_cpu() ? "cpu" : "cuda"; })
      .def_prop_ro("index", &Device::index)
      .def("__str__", &Device::str)
      .def("__reduce__",
           [](nb::handle_t<Device> self) {
             return nb::make_tuple(self.type(), nb::make_tuple(nb::str(self)));
           })
      .def("__repr__",
           [](Device device) {
             if (device.is_cpu() && device.index() == 0) return std::string("device(type='cpu')");
             return "device(type='" + std::string(device.is_cpu() ? "cpu" : "cuda") +
                    "', index=" + std::to_string(device.index()) + ")";
           })
      .def("__hash__", [](Device device) { return std::hash<Device>()(device); })
      .def(
          "__eq__", [](Device a, Device b) { return a == b; }, nb::is_operator());
  nb::module_ cuda = module.def_submodule("cuda", "GPUs: whether this machine has one.");
  cuda.def("is_available", &cuda::is_available);
  cuda.def("device_count", &cuda::device_count);
  cuda.def("set_allow_tf32", &backends::cuda::matmul::set_allow_tf32, "allow"_a,
           "Whether products of float32 on a GPU may round their operands to TF32.");
  cuda.def("allow_tf32", &backends::cuda::matmul::allow_tf32);
  cuda.def("set_allow_fp16_reduced_precision_reduction",
           &backends::cuda::matmul::set_allow_fp16_reduced_precision_reduction, "allow"_a,
           "Whether partial sums of products of float16 may be added in float16.");
  cuda.def("allow_fp16_reduced_precision_reduction",
           &backends::cuda::matmul::allow_fp16_reduced_precision_reduction);
  cuda.def("set_allow_relu_mask", &backends::cuda::matmul::set_allow_relu_mask, "allow"_a,
           "Whether large products may compute relu, which then may turn NaN into 0.");
  cuda.def("allow_relu_mask", &backends::cuda::matmul::allow_relu_mask);
  cuda.def("set_allow_warpgroup_mlp", &backends::cuda::set_allow_warpgroup_mlp, "allow"_a,
           "Whether mlp may compute gradients by the warpgroups of compute capability 9.0.");
  cuda.def("allow_warpgroup_mlp", &backends::cuda::allow_warpgroup_mlp);
  cuda.def("why_unavailable", &cuda::why_unavailable,
           "Returns the reason why is_available() is False; empty if it is True.");
  nb::module_ cpu = module.def_submodule("cpu", "Switches of products on a CPU.");
  cpu.def("set_allow_amx", &backends::cpu::set_allow_amx, "allow"_a,
          "Whether products of 16-bit matrices may use AMX, where the processor has it.");
  cpu.def("allow_amx", &backends::cpu::allow_amx);
}

}  // namespace

void bind_types(nb::module_& module) {
  bind_dtype(module);
  bind_device(module);
  nb::class_<Scope>(module, "Scope", "A setting that holds until end().").def("end", &Scope::end);
  nb::class_<HookHandle>(module, "RemovableHandle", "Removes a hook.")
      .def("remove", &HookHandle::remove, "Removes the hook; a second call does nothing.");
  module.def("set_num_threads", &set_num_threads, "count"_a,
             "Sets the number of threads of one op. It affects speed only, never results.");
  module.def("get_num_threads", &get_num_threads);
}

}  // namespace halfgrad::python
