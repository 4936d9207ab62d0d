#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <halfgrad/autograd/graph/grad_scale.h>
#include <halfgrad/autograd/tensor.h>
#include <halfgrad/dist/communicator.h>

namespace halfgrad::dist::detail {

/// Puts parameters, in the reverse of their order, into buckets, and returns the indices in each. A
/// bucket has one dtype and device, and is closed once it has `bucket_bytes` or more; the first one
/// is closed at 1 MiB, so that its collective starts early. Buckets follow one another in the order
/// of their last parameters.
std::vector<std::vector<std::size_t>> assign_buckets(const std::vector<Tensor>& parameters,
                                                     std::int64_t bucket_bytes);

/// The gradients of some parameters, in one flat array that a collective averages.
class GradientBucket {
 public:
  /// `wire`: the dtype in which float32 gradients travel.
  GradientBucket(std::vector<Tensor> parameters, std::optional<DType> wire,
                 std::shared_ptr<Communicator> communicator);
  /// Waits for a collective under way, whose memory this is.
  ~GradientBucket();
  GradientBucket(const GradientBucket&) = delete;
  GradientBucket& operator=(const GradientBucket&) = delete;

  /// Begins a backward pass without gradients. If anything but a parameter's grad() still refers to
  /// a gradient of an earlier pass, that keeps its memory, and the bucket takes new memory.
  void start();
  /// Makes grad() of parameter i a view of the bucket with the same values and scale id.
  void place(std::size_t i);
  /// Contributes grad() of parameter i, or zeros if it has none, for a parameter without a gradient
  /// in this pass. grad() may stay undefined.
  void place_unused(std::size_t i);
  /// True if every parameter has been placed.
  bool is_complete() const { return missing_ == 0; }
  bool has_placed(std::size_t i) const { return parameters_[i].is_placed; }

  /// Starts the average over all ranks.
  void all_reduce();
  /// Makes the result visible: waits for the average.
  void wait();
  /// Makes the view the grad() of a parameter that was unused on this rank only.
  void adopt(std::size_t i, halfgrad::detail::ScaleId scale);
  /// Waits for an average that has started, and ignores its failure.
  void abandon() noexcept;

  const Array& flat() const { return flat_; }

 private:
  struct Parameter {
    Tensor tensor;
    std::int64_t offset;  // elements before its gradient in the flat array
    Array view = {};      // has a Storage, and so a version, of its own
    bool is_placed = false;
  };

  void take_memory();
  void end_flights() noexcept;
  bool is_held(const Parameter& parameter) const;
  void count(Parameter& parameter);

  const std::shared_ptr<Communicator> communicator_;
  std::vector<Parameter> parameters_;
  std::int64_t numel_ = 0;
  Array flat_;
  Array wire_;  // the gradients in the dtype in which they travel, if that is another one
  std::optional<DType> wire_dtype_;
  std::size_t missing_ = 0;
  std::optional<Work> work_;
};

}  // namespace halfgrad::dist::detail
