#pragma once

#include <cstdint>
#include <memory>

#include <halfgrad/autograd/tensor.h>

/// A 16-bit copy of a float32 weight that the optimizer writes as it updates the weight.
///
/// Autocast rounds each weight to 16 bits once a step: 4 bytes read and 2 written for an element.
/// An optimizer that has the new weight in a register writes its 16 bits at once, and the next
/// region casts nothing. The copy is used only while it is known to be the weight, rounded: every
/// write that halfgrad sees makes it stale, and so does a replay of a graph that does not keep it.
///
/// In a captured step, the region reads the copy and the optimizer writes it, both at one address.
/// Before each replay the host casts the weight again if something else may have written it.
namespace halfgrad::detail {

/// Tells whether an array has been written, as far as halfgrad can see.
struct WriteState {
  std::weak_ptr<Storage> storage{};
  std::uint32_t version = 0;
  std::uint32_t raw_writes = 0;

  static WriteState of(const Array& array);
  bool operator==(const WriteState& other) const;
};

/// The copy of one weight, and the state of weight and copy when they were last equal.
class ShadowWeight {
 public:
  ShadowWeight(const Array& weight, DType dtype);

  const Array& elements() const { return elements_; }
  /// True if nothing but the shadow itself refers to the elements, so that they may be overwritten.
  bool is_unshared() const { return elements_.storage().use_count() == 1; }

  /// True if the elements are those of `weight`, given that this many replays have run.
  bool is_current(const Array& weight, std::uint64_t replays) const;
  /// True if the weight's version has grown by one since. Two parameters may share a storage: the
  /// pass then writes it twice.
  bool is_behind_by_one_write(const Array& weight) const;
  void mark_current(const Array& weight, std::uint64_t replays);
  /// Casts the weight unless it is current.
  void refresh(const Array& weight, std::uint64_t replays);

 private:
  Array elements_;
  WriteState weight_, own_;  // when the elements were cast
  Shape strides_;            // the weight's: set_data() may give it another view of its storage
  std::int64_t offset_ = 0;
  std::uint64_t replays_ = 0;
};

/// For autocast: returns the shadow's elements, if `weight` has a current one of this dtype, else
/// an undefined array.
Array shadow_of(const Tensor& weight, DType dtype);
/// to(weight, dtype), without work if the weight has a current shadow.
Tensor to_by_shadow(const Tensor& weight, DType dtype);

/// For an optimizer's pass: returns current elements that the pass may overwrite, and which skip
/// with it. They live until the next call. Follow the pass by shadow_was_written().
const Array* shadow_to_write(const Tensor& weight, DType dtype);
/// Call it after the version of the weight has changed.
void shadow_was_written(const Tensor& weight);

}  // namespace halfgrad::detail
