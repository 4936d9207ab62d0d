#include <halfgrad/io/dlpack.h>

#include <cstddef>
#include <memory>
#include <utility>

#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/stream.h>
#include <halfgrad/io/dlpack_view.h>

namespace halfgrad::io {
namespace {

using files::FormatCode;

/// Shares bools whose bytes are 0 and 1. NumPy reads any other byte as true, so a copy stores 1 for
/// it; shared memory must not be changed.
Tensor import_bools(const detail::DlpackView& view, std::shared_ptr<void> owner,
                    FromDlpackOptions options) {
  const auto blob = [&](DType dtype) {
    return Tensor(Array::from_blob(
        view.data, view.sizes, view.strides, dtype, [owner]() mutable { owner.reset(); },
        view.device));
  };
  const NoGradGuard no_grad;
  const Tensor bytes = blob(kUInt8);
  if (options.copy) {
    const Tensor copied = bytes != 0;
    current_stream(view.device).synchronize();
    return copied;
  }
  if ((bytes > 1).any().item() != 0) {
    detail::fail_dlpack(FormatCode::bad_value, offsetof(dlpack::Tensor, data),
                        "bools of byte 0 or 1", "others",
                        "import it with {.copy = true}, which makes every byte other than 0 true");
  }
  return blob(kBool);
}

/// `owner` releases the memory when its last copy is destroyed.
Tensor import(const dlpack::Tensor& tensor, std::uint64_t flags, std::shared_ptr<void> owner,
              FromDlpackOptions options) {
  const detail::DlpackView view = detail::checked_view(tensor);
  if (view.data == nullptr) return Tensor(Array::empty(view.sizes, view.dtype, view.device));
  if (!options.copy && (flags & dlpack::kReadOnly) != 0) {
    detail::fail_dlpack(FormatCode::read_only, offsetof(dlpack::ManagedTensorVersioned, flags),
                        "memory that may be written", "read-only memory",
                        "import it with {.copy = true}");
  }
  if (!options.copy && view.overlaps) {
    detail::fail_dlpack(
        FormatCode::overlap, offsetof(dlpack::Tensor, strides), "elements that do not overlap",
        "sizes " + to_string(view.sizes) + " and strides " + to_string(view.strides),
        "import it with {.copy = true}");
  }
  if (view.dtype == kBool) return import_bools(view, std::move(owner), options);
  const Array shared = Array::from_blob(
      view.data, view.sizes, view.strides, view.dtype, [owner]() mutable { owner.reset(); },
      view.device);
  if (!options.copy) return Tensor(shared);
  const Tensor copied(shared.clone());
  current_stream(view.device).synchronize();  // the owner may free the memory only after the copy
  return copied;
}

/// Returns an owner that calls the structure's deleter when its last copy is destroyed.
template <class Managed>
std::shared_ptr<void> owner_of(Managed* managed) {
  if (managed == nullptr) {
    halfgrad::detail::fail("from_dlpack", "expected a tensor, got a null pointer");
  }
  return std::shared_ptr<void>(nullptr, [managed](void*) {
    if (managed->deleter != nullptr) managed->deleter(managed);
  });
}

}  // namespace

Tensor from_dlpack(dlpack::ManagedTensorVersioned* tensor, FromDlpackOptions options) {
  const std::shared_ptr<void> owner = owner_of(tensor);
  if (tensor->version.major != 1) {
    detail::fail_dlpack(
        FormatCode::unsupported_version, 0, "DLPack 1",
        std::to_string(tensor->version.major) + "." + std::to_string(tensor->version.minor));
  }
  return import(tensor->dl_tensor, tensor->flags, owner, options);
}

Tensor from_dlpack(dlpack::ManagedTensor* tensor, FromDlpackOptions options) {
  const std::shared_ptr<void> owner = owner_of(tensor);
  return import(tensor->dl_tensor, 0, owner, options);
}

}  // namespace halfgrad::io
