#include <halfgrad/io/dlpack.h>
#include <halfgrad/io/dlpack_types.h>

#include <memory>

#include <halfgrad/core/fail.h>

namespace halfgrad::io {
namespace {

/// The exported structure and the memory it points to; exists until the receiver calls the deleter.
struct Exported {
  dlpack::ManagedTensorVersioned managed;
  Array array;
  Shape sizes, strides;
};

}  // namespace

dlpack::ManagedTensorVersioned* to_dlpack(const Tensor& tensor) {
  if (!tensor.defined() || tensor.requires_grad()) {
    halfgrad::detail::fail("to_dlpack",
                           "expected a tensor that does not require a gradient, got {}",
                           tensor.defined() ? "one that does; detach() it" : "an undefined one");
  }
  const Array& array = tensor.array();
  array.storage()->expose();
  auto exported = std::make_unique<Exported>(
      Exported{.managed = {}, .array = array, .sizes = array.sizes(), .strides = array.strides()});
  const bool is_cpu = array.device().is_cpu();
  exported->managed = {
      .version = {1, 1},
      .manager_ctx = exported.get(),
      .deleter =
          [](dlpack::ManagedTensorVersioned* self) {
            delete static_cast<Exported*>(self->manager_ctx);
          },
      .flags = 0,
      .dl_tensor = {
          // Points to the first element: some receivers ignore byte_offset.
          .data = array.numel() == 0 ? nullptr : array.data(),
          .device = {is_cpu ? dlpack::kCpu : dlpack::kCuda, is_cpu ? 0 : array.device().index()},
          .ndim = array.ndim(),
          .dtype = detail::dlpack_type(array.dtype()),
          .shape = &exported->sizes[0],
          .strides = &exported->strides[0],
          .byte_offset = 0}};
  return &exported.release()->managed;
}

}  // namespace halfgrad::io
