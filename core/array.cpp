#include <halfgrad/core/array.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfgrad/core/engines/copy.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/late_work.h>
#include <halfgrad/core/memory/host_reads.h>
#include <halfgrad/core/running_op.h>

namespace halfgrad {
namespace {

std::atomic<std::int64_t> reads{0};

}  // namespace

std::int64_t detail::host_reads() { return reads.load(std::memory_order_relaxed); }

Storage::Storage(Device device, std::size_t bytes)
    : device_(device), block_(allocator::allocate(device, bytes)) {}

Storage::Storage(const allocator::Block& block, Device device) : device_(device), block_(block) {}

Storage::~Storage() {
  if (late_work_.load(std::memory_order_acquire) != nullptr) {
    detail::free_after_late_work(*this);
  } else {
    allocator::deallocate(block_);
  }
}

namespace {

std::size_t checked_bytes(const Shape& sizes, DType dtype) {
  auto bytes = static_cast<std::int64_t>(item_size(dtype));
  for (const std::int64_t size : sizes) {
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes)) {
      detail::fail("empty", "expected sizes >= 0 whose product fits in 64 bits, got {}", sizes);
    }
  }
  return static_cast<std::size_t>(bytes);
}

/// Bytes from the first element to the end of the last one.
std::size_t extent_bytes(const Shape& sizes, const Shape& strides, DType dtype) {
  bool fits = sizes.size() == strides.size();
  if (fits && checked_bytes(sizes, dtype) == 0) return 0;
  std::int64_t elements = 1;
  for (int i = 0; fits && i < sizes.size(); ++i) {
    std::int64_t reach = 0;
    fits = strides[i] >= 0 && !__builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) &&
           !__builtin_add_overflow(elements, reach, &elements);
  }
  std::int64_t bytes = 0;
  if (!fits || __builtin_mul_overflow(elements, item_size(dtype), &bytes)) {
    detail::fail("from_blob",
                 "expected a stride >= 0 for each size and an extent that fits in 64 bits, got "
                 "sizes {} and strides {}",
                 sizes, strides);
  }
  return static_cast<std::size_t>(bytes);
}

}  // namespace

Array::Array(std::shared_ptr<Storage> storage, const Shape& sizes, DType dtype)
    : storage_(std::move(storage)),
      sizes_(sizes),
      strides_(contiguous_strides(sizes)),
      numel_(halfgrad::numel(sizes)),
      dtype_(dtype) {}

Array Array::empty(const Shape& sizes, DType dtype, Device device) {
  const std::size_t bytes = checked_bytes(sizes, dtype);
  try {
    return {std::make_shared<Storage>(device, bytes), sizes, dtype};
  } catch (const OutOfMemoryError& error) {
    throw OutOfMemoryError(error, detail::running_op,
                           std::string(name(dtype)) + " " + to_string(sizes));
  }
}

Array Array::empty_pinned(const Shape& sizes, DType dtype) {
  const std::size_t bytes = checked_bytes(sizes, dtype);
  return {std::make_shared<Storage>(allocator::allocate_pinned(bytes)), sizes, dtype};
}

Array Array::full(const Shape& sizes, Scalar value, DType dtype, Device device) {
  Array result = empty(sizes, dtype, device);
  result.fill_(value);
  return result;
}

Array Array::from_blob(void* data, const Shape& sizes, const Shape& strides, DType dtype,
                       std::function<void()> release, Device device) {
  const std::size_t bytes = extent_bytes(sizes, strides, dtype);
  const auto destroy = [release = std::move(release)](Storage* storage) {
    delete storage;
    if (release) release();
  };
  auto storage = std::make_unique<Storage>(allocator::Block{.data = data, .bytes = bytes}, device);
  storage->expose();
  const Array all(std::shared_ptr<Storage>(storage.release(), destroy), {0}, dtype);
  return all.as_strided(sizes, strides, 0);
}

std::int64_t Array::value_at(const Shape& values, std::int64_t dim, const char* op) const {
  const int d = wrap_dim(dim, ndim(), op);
  if (ndim() > 0) return values[d];
  detail::fail<std::out_of_range>(op, "expected an array with dimensions, got none");
}

bool Array::repeats_elements() const {
  if (contiguous_ || numel_ == 0) return false;
  // Each stride, and the distance from the first to the last element along it.
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;
  for (int i = 0; i < ndim(); ++i) {
    const std::int64_t stride = std::abs(strides_[i]);
    if (sizes_[i] > 1) steps.emplace_back(stride, stride * (sizes_[i] - 1));
  }
  std::sort(steps.begin(), steps.end());
  std::int64_t reached = 0;
  for (const auto& [stride, reach] : steps) {
    if (stride <= reached) return true;
    reached += reach;
  }
  return false;
}

Array Array::contiguous() const { return is_contiguous() ? *this : clone(); }

Array Array::clone() const {
  Array result = empty(sizes_, dtype_, device());
  result.copy_(*this);
  return result;
}

Array Array::to(DType dtype) const {
  if (dtype == dtype_) return *this;
  Array result = empty(sizes_, dtype, device());
  result.copy_(*this);
  return result;
}

Array Array::to(Device device) const {
  if (device == this->device()) return *this;
  Array result = empty(sizes_, dtype_, device);
  result.copy_(*this);
  return result;
}

Array Array::pin_memory() const {
  if (is_pinned()) return *this;
  Array result = empty_pinned(sizes_, dtype_);
  result.copy_(*this);
  if (device().is_cuda()) detail::wait_for(current_stream(device()), "pin_memory");
  return result;
}

void detail::expect_one_device(const char* engine, const Array& out,
                               std::span<const Array* const> arrays) {
  for (const Array* const array : arrays) {
    if (array->defined() && array->device() != out.device()) {
      fail(engine, "expected operands on one device, got {} and {}", out.device(), array->device());
    }
  }
}

void Array::copy_(const Array& source) const {
  detail::copy(*this, source.expand(sizes_));
  storage_->count_raw_write();
}

void Array::fill_(Scalar value) const {
  detail::fill(*this, value);
  storage_->count_raw_write();
}

Scalar Array::only_element() const {
  if (numel_ != 1) {
    detail::fail("item", "expected an array with one element, got shape {}", sizes_);
  }
  if (device().is_cuda()) return to(Device()).only_element();
  reads.fetch_add(1, std::memory_order_relaxed);
  return visit(dtype_, [this](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) return Scalar(*data_as<T>());
    return Scalar(static_cast<double>(static_cast<compute_t<T>>(*data_as<T>())));
  });
}

}  // namespace halfgrad
