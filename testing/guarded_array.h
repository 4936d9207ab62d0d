#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <halfgrad/core/array.h>

namespace halfgrad::testing {

/// The memory layout of an array.
enum class Layout : std::uint8_t {
  contiguous,    ///< row-major, aligned to 64 bytes
  misaligned,    ///< row-major, at any offset within 16 bytes that the dtype allows
  padded_rows,   ///< an odd leading dimension: 3 elements between rows
  every_second,  ///< the last stride is 2
  transposed,    ///< the strides of the last two dimensions swapped
  page_end,      ///< row-major, the last element right before a page that may not be touched
};

const char* name(Layout layout);

/// The place of an array among those of a case, and of the case among those of a check. It decides
/// which offset a misaligned array has, so that arrays of one case differ, and whether an aligned
/// one lies at the start or at the end of its pages.
struct Placement {
  std::uint32_t array = 0, round = 0;
};
/// In this round plus i only array i is misaligned.
inline constexpr std::uint32_t kOneMisaligned = 1u << 31;

/// An array for a kernel under test, with guard memory before, after and between its elements that
/// the kernel may not touch: at least a page on either side. Every guard byte has the same value.
class GuardedArray {
 public:
  GuardedArray(const Shape& sizes, DType dtype, Layout layout, std::uint8_t guard,
               Device device = {}, Placement placement = {});

  const Array& view() const { return view_; }
  /// Overwrites all elements, in row-major order, converting to the dtype.
  void set(const std::vector<double>& values);
  /// Sets every byte of every element.
  void fill_bytes(std::uint8_t byte);
  /// Overwrites the elements' bytes, in row-major order.
  void set_bytes(const std::vector<std::byte>& bytes);

  std::vector<double> values() const;
  /// The elements' bytes, in row-major order.
  std::vector<std::byte> bytes() const;
  /// The first guard element that has changed, counted in elements from the first of the view.
  std::optional<std::int64_t> touched_guard() const;

 private:
  Array host() const { return storage_.to(Device{}); }
  void store(const Array& host);
  template <class F>
  void each_run(const F& f) const;

  Array storage_;  // one-dimensional
  Array view_;
  std::uint8_t guard_;
};

}  // namespace halfgrad::testing
