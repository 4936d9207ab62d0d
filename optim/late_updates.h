#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <halfgrad/core/late_work.h>
#include <halfgrad/optim/optimizer.h>

namespace halfgrad::detail {

/// The updates of a step on a second stream, in a launch for each large layer: see
/// Optimizer::set_late_updates().
class LateUpdates {
 public:
  explicit LateUpdates(std::int64_t min_elements) : min_elements_(min_elements) {}

  /// Begins the updates of a group. Its formulas read `constant`, which nothing overwrites, and
  /// `others`.
  void begin(std::vector<Array> constant, std::vector<Array> others);
  /// Adds an array that formulas of the group read, and which nothing overwrites.
  void add_constant(const Array& array) {
    if (constant_.empty() || constant_.back().storage() != array.storage()) {
      constant_.push_back(array);
    }
  }

  /// An update of a list.
  struct Item {
    std::span<const Array* const> operands;  ///< the first is the parameter
    const optim::ParamState* state;          ///< the parameter's
  };
  /// Runs the updates by calls of queue(begin, end), which queue those of items [begin, end).
  void run(const std::vector<Item>& items,
           const std::function<void(std::ptrdiff_t begin, std::ptrdiff_t end)>& queue);

 private:
  void run_part(std::span<const Item> items, const std::function<void()>& queue);
  const Stream& stream_of(Device device);

  std::int64_t min_elements_;
  std::vector<std::unique_ptr<OwnStream>> streams_;  // one for each device
  std::vector<Array> constant_, others_;
};

}  // namespace halfgrad::detail
