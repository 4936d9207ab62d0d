#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include <halfgrad/core/allocator.h>
#include <halfgrad/core/device.h>
#include <halfgrad/core/dtype.h>
#include <halfgrad/core/numbers/scalar.h>
#include <halfgrad/core/shape.h>
#include <halfgrad/core/storage.h>

namespace halfgrad {

/// An n-dimensional array on a device: sizes, strides and an offset into a Storage. Copies share
/// the storage. An Array has no gradient; Tensor (autograd) adds it.
class Array {
 public:
  Array() = default;  ///< undefined: no storage
  Array(const Array&) = default;
  Array(Array&&) = default;
  // A temporary cannot be assigned to: `x.select(0, 1) = y` would not change x; copy_() does.
  Array& operator=(const Array&) & = default;
  Array& operator=(Array&&) & = default;

  /// Returns an uninitialised, row-major array.
  static Array empty(const Shape& sizes, DType dtype, Device device = {});
  /// Returns an uninitialised array in pinned host memory: copies to a GPU then run asynchronously.
  static Array empty_pinned(const Shape& sizes, DType dtype);
  /// Returns an array filled with `value`, converted to `dtype`. Throws std::invalid_argument if
  /// `value` is out of the range of `dtype`.
  static Array full(const Shape& sizes, Scalar value, DType dtype, Device device = {});

  /// Wraps memory that the caller owns; `data` is the address of the first element. `release`, if
  /// any, is called once, on the thread that destroys the last view. Throws std::invalid_argument
  /// for negative sizes or strides, and for an extent of more than 2^63 bytes; `release` is then
  /// not called.
  static Array from_blob(void* data, const Shape& sizes, const Shape& strides, DType dtype,
                         std::function<void()> release, Device device = {});

  bool defined() const { return storage_ != nullptr; }
  const Shape& sizes() const { return sizes_; }
  const Shape& strides() const { return strides_; }
  /// size() and stride() throw std::out_of_range unless -ndim() <= dim < ndim().
  std::int64_t size(std::int64_t dim) const { return value_at(sizes_, dim, "size"); }
  std::int64_t stride(std::int64_t dim) const { return value_at(strides_, dim, "stride"); }
  int ndim() const { return sizes_.size(); }
  std::int64_t numel() const { return numel_; }
  DType dtype() const { return dtype_; }
  Device device() const { return storage_->device(); }
  std::int64_t storage_offset() const { return offset_; }
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  /// True for row-major strides, and for every array without elements.
  bool is_contiguous() const { return contiguous_; }
  /// True if two indices may share one element of memory, as after expand(). The test is
  /// conservative: it returns false only if each stride is larger than the reach of all smaller
  /// strides together.
  bool repeats_elements() const;

  /// Address of the first element; nullptr if the storage is empty.
  std::byte* data() const {
    std::byte* const start = storage_->data();
    return start ? start + offset_ * static_cast<std::int64_t>(item_size(dtype_)) : nullptr;
  }
  template <class T>
  T* data_as() const {
    return reinterpret_cast<T*>(data());
  }

  /// Returns a view with these sizes and strides; `offset` counts elements from the start of the
  /// storage. Throws std::invalid_argument if the view would reach outside the storage.
  Array as_strided(const Shape& sizes, const Shape& strides, std::int64_t offset) const;

  /// Returns a view of the same bytes as elements of another dtype. If its size differs, the last
  /// dimension grows or shrinks in proportion; throws std::invalid_argument unless its stride is 1
  /// and it, the other strides and the offset can be divided.
  Array view(DType dtype) const;
  Array permute(const Shape& dims) const;
  Array transpose(std::int64_t dim0, std::int64_t dim1) const;
  /// Repeats dimensions of size 1 without copying (stride 0). A size of -1 keeps the old size.
  Array expand(const Shape& sizes) const;
  /// Returns a view if the strides allow it, else a contiguous copy. One size may be -1.
  Array reshape(const Shape& sizes) const;
  Array slice(std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step = 1) const;
  Array select(std::int64_t dim, std::int64_t index) const;
  Array unsqueeze(std::int64_t dim) const;
  Array squeeze(std::int64_t dim) const;

  /// Returns this array if it is contiguous, else a row-major copy.
  Array contiguous() const;
  Array clone() const;
  /// Returns this array if it already has that dtype or device, else a converted copy.
  Array to(DType dtype) const;
  /// The host waits for a copy from a GPU to the CPU, and for a copy to a GPU from pinned memory
  /// that from_blob() wraps. Other copies are asynchronous.
  Array to(Device device) const;
  /// Returns this array if it is pinned, else a copy in pinned memory.
  Array pin_memory() const;
  bool is_pinned() const { return allocator::is_pinned(storage_->block()); }

  /// Tells the allocator that work on `stream` uses this memory. Call it after queueing work on a
  /// stream other than the one that was current when the array was made, and before destroying the
  /// array.
  void record_stream(const Stream& stream) const {
    allocator::record_stream(storage_->block(), stream);
  }

  /// Overwrites every element with `source`, broadcast and converted. The host waits as in to(). A
  /// copy from a GPU to a pinned array is asynchronous if both are contiguous and of one dtype; it
  /// runs on the current stream of the source.
  void copy_(const Array& source) const;
  /// Sets every element to `value`, as full() does.
  void fill_(Scalar value) const;

  /// Returns the only element, converted to T. Waits for a GPU. Throws std::invalid_argument unless
  /// numel() is 1 and the value is in the range of T.
  template <class T = double>
  T item() const {
    return only_element().to<T>();
  }

 private:
  Array(std::shared_ptr<Storage> storage, const Shape& sizes, DType dtype);
  std::int64_t value_at(const Shape& values, std::int64_t dim, const char* op) const;
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

/// Returns the addresses [begin, end) that an array's elements span; begin == end if there are
/// none.
std::pair<std::uintptr_t, std::uintptr_t> memory_of(const Array& array);

/// Throws std::invalid_argument, naming `engine`, unless every defined array is on the device of
/// `out`.
void expect_one_device(const char* engine, const Array& out, std::span<const Array* const> arrays);

}  // namespace detail

/// Replaces the one -1 in `sizes` so that the product is `numel`. Throws std::invalid_argument if
/// that is impossible.
Shape infer_size(const Shape& sizes, std::int64_t numel);

}  // namespace halfgrad
