#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/dist/data_parallel.h>
#include <halfgrad/dist/parallel/gradient_bucket.h>

namespace halfgrad::dist::detail {

/// Averages the gradients of a module over all ranks during backward, as torch's c10d::Reducer.
///
/// A post-accumulate hook of each parameter places the complete gradient in its bucket. A bucket
/// with all gradients starts its collective once every earlier bucket has: the order of collectives
/// is the same on all ranks, whatever the order of gradients. The end of the pass places the
/// parameters without a gradient and waits.
class GradientReducer : public std::enable_shared_from_this<GradientReducer> {
 public:
  /// A collective: see DataParallel.
  GradientReducer(const nn::Module& module, std::shared_ptr<Communicator> communicator,
                  const DataParallelOptions& options);
  ~GradientReducer();
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;

  /// Broadcasts the buffers, and makes new buckets if parameters were frozen, thawed or converted.
  void before_forward();
  /// Whether backward passes average. Returns the old value.
  bool set_sync(bool sync) { return std::exchange(sync_, sync); }

 private:
  struct Parameter {
    std::string name;
    Tensor tensor;
    // As they were when the buckets were made.
    bool requires_grad = false;
    DType dtype{};
    Device device{};
    // For those that require grad:
    HookHandle hook{nullptr};
    std::size_t bucket = 0, position = 0;
    bool has_gradient = false;  // since the last average
  };

  class Pass;

  void expect_equal_ranks() const;
  void own_parameters();
  void disown_parameters();
  void expect_listed_parameters() const;
  bool is_out_of_date() const;
  void make_buckets();
  void broadcast_buffers();
  Device device() const;

  void on_gradient(Parameter& parameter);
  void start_pass();
  void expect_plain_pass(const Parameter& parameter) const;
  void start_complete_buckets();
  void place_unused();
  void finish_pass();
  void abandon_pass() noexcept;
  std::vector<bool> used_anywhere() const;
  void adopt_gradients(const std::vector<bool>& used);

  nn::Module module_;
  std::shared_ptr<Communicator> communicator_;
  DataParallelOptions options_;
  std::vector<Parameter> parameters_;
  std::vector<std::unique_ptr<GradientBucket>> buckets_;
  std::size_t next_bucket_ = 0;  // whose collective has not started
  bool sync_ = true;
  bool is_in_pass_ = false;
};

}  // namespace halfgrad::dist::detail
