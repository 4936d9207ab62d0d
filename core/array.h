#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include <halfgrad/core/allocator.h>
#include <halfgrad/core/device.h>
#include <halfgrad/core/dtype.h>
#include <halfgrad/core/scalar.h>
#include <halfgrad/core/shape.h>

namespace halfgrad {

/// A block of memory on a device, shared by every view of it.
class Storage {
 public:
  Storage(Device device, std::size_t bytes);
  explicit Storage(const allocator::Block& block, Device device = {});
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(block_.data); }
  std::size_t bytes() const { return block_.bytes; }
  const allocator::Block& block() const { return block_; }
  Device device() const { return device_; }

  /// Counts in-place changes. Shared by all views, so that autograd notices when a tensor it has
  /// saved is overwritten through any of them.
  std::uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

 private:
  Device device_;
  allocator::Block block_;
  std::atomic<std::uint32_t> version_{0};
};

/// Strided n-dimensional numbers on a device: a view (offset, sizes, strides) of a Storage.
/// Copies share the storage. Knows nothing of gradients.
class Array {
 public:
  Array() = default;  ///< undefined: no storage
  Array(const Array&) = default;
  Array(Array&&) = default;
  // Not to a temporary: `x.select(0, 1) = y` would leave x as it is. copy_() writes.
  Array& operator=(const Array&) & = default;
  Array& operator=(Array&&) & = default;

  /// Uninitialised, row-major.
  static Array empty(const Shape& sizes, DType dtype, Device device = {});
  /// Uninitialised, on the CPU, in memory from which copies to a GPU run beside the host's work.
  static Array empty_pinned(const Shape& sizes, DType dtype);
  /// Every element `value`, converted to `dtype`. Throws std::invalid_argument for a number beyond
  /// its range.
  static Array full(const Shape& sizes, Scalar value, DType dtype, Device device = {});

  /// A view of somebody else's memory, whose first element lies at `data`. `release`, if any, is
  /// called once, by whichever thread lets go of the last view. Throws std::invalid_argument for
  /// negative sizes or strides, and for an extent beyond 2^63 bytes; then `release` is not called.
  static Array from_blob(void* data, const Shape& sizes, const Shape& strides, DType dtype,
                         std::function<void()> release, Device device = {});

  bool defined() const { return storage_ != nullptr; }
  const Shape& sizes() const { return sizes_; }
  const Shape& strides() const { return strides_; }
  /// Throws std::out_of_range for a dimension that is not there, so always without dimensions.
  std::int64_t size(std::int64_t dim) const { return of_dim(sizes_, dim, "size"); }
  std::int64_t stride(std::int64_t dim) const { return of_dim(strides_, dim, "stride"); }
  int ndim() const { return sizes_.size(); }
  std::int64_t numel() const { return numel_; }
  DType dtype() const { return dtype_; }
  Device device() const { return storage_->device(); }
  std::int64_t storage_offset() const { return offset_; }
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  /// Row-major. An array without elements always is.
  bool is_contiguous() const { return contiguous_; }
  /// True of an expanded array: some of its elements are one and the same number. Also true where
  /// the strides do not show that they lie apart: where one is no longer than all the steps along
  /// shorter ones together.
  bool repeats_elements() const;

  /// Address of the first element; null if the storage is empty.
  std::byte* data() const {
    std::byte* const start = storage_->data();
    return start ? start + offset_ * static_cast<std::int64_t>(item_size(dtype_)) : nullptr;
  }
  template <class T>
  T* data_as() const {
    return reinterpret_cast<T*>(data());
  }

  /// Any view of the same storage; offset in elements from the storage's start.
  /// Throws std::invalid_argument when it would reach outside the storage.
  Array as_strided(const Shape& sizes, const Shape& strides, std::int64_t offset) const;

  Array permute(const Shape& dims) const;
  Array transpose(std::int64_t dim0, std::int64_t dim1) const;
  /// Repeats dimensions of size 1 without copying (stride 0); -1 keeps a size.
  Array expand(const Shape& sizes) const;
  /// A view where the strides allow one, else a contiguous copy; one size may be -1.
  Array reshape(const Shape& sizes) const;
  Array slice(std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step = 1) const;
  Array select(std::int64_t dim, std::int64_t index) const;
  Array unsqueeze(std::int64_t dim) const;
  Array squeeze(std::int64_t dim) const;

  /// This array if row-major already, else a row-major copy.
  Array contiguous() const;
  Array clone() const;
  /// This array if it has that type or place already, else a converted copy.
  Array to(DType dtype) const;
  /// The host waits for a copy from a GPU to the CPU, for one to a GPU from page-locked memory that
  /// is somebody else's, and for nothing else.
  Array to(Device device) const;
  /// This array if it is pinned already, else a copy in pinned memory on the CPU.
  Array pin_memory() const;
  bool is_pinned() const { return allocator::is_pinned(storage_->block()); }

  /// Work on `stream`, other than the one current when this array was made, uses its memory: call
  /// after queueing that work, before letting go of the array.
  void record_stream(const Stream& stream) const {
    allocator::record_stream(storage_->block(), stream);
  }

  /// Overwrites every element with `source`, broadcast and converted. The host waits as in to(),
  /// unless both are dense, of one dtype, and this array is pinned: then a copy from a GPU is
  /// queued on the source's current stream.
  void copy_(const Array& source) const;
  /// Every element `value`, as full().
  void fill_(Scalar value) const;

  /// The only element, converted. Waits for a GPU. Throws std::invalid_argument unless numel() is 1
  /// and T can hold the number.
  template <class T = double>
  T item() const {
    return only_element().to<T>();
  }

 private:
  Array(std::shared_ptr<Storage> storage, const Shape& sizes, DType dtype);
  std::int64_t of_dim(const Shape& values, std::int64_t dim, const char* op) const;
  Scalar only_element() const;

  std::shared_ptr<Storage> storage_;
  Shape sizes_;
  Shape strides_;
  std::int64_t offset_ = 0;
  std::int64_t numel_ = 0;
  DType dtype_ = DType::f32;
  bool contiguous_ = true;
};

namespace detail {

/// Addresses from the first byte of an array's elements to behind the last, strides apart or not;
/// equal where there are none.
std::pair<std::uintptr_t, std::uintptr_t> memory_of(const Array& array);

/// Throws std::invalid_argument, of `engine`, unless those that are defined lie where `out` does.
void expect_one_device(const char* engine, const Array& out, std::span<const Array* const> arrays);

}  // namespace detail

/// Replaces the one -1 in `sizes` by what `numel` elements require.
/// Throws std::invalid_argument naming both when that is impossible.
Shape infer_size(const Shape& sizes, std::int64_t numel);

}  // namespace halfgrad
