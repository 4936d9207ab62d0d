#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/core/deferred.h>
#include <halfgrad/core/stream.h>

/// Unscaling and clipping of narrow gradients (narrow_gradient.h) that wait.
///
/// GradScaler::unscale_() and clip_grad_norm_() multiply every gradient by a factor that the device
/// computes. If all gradients are narrow, both factors can wait until something looks at a
/// gradient, or until the optimizer's pass multiplies by them in registers. One pass over the
/// elements computes the factors, with found_inf and the norm. Without a GradScaler the pass begins
/// with clip_grad_norm_(), and the first factor is 1.
namespace halfgrad::detail {

/// The pass. It runs when something looks at a gradient or at the norm, and at the latest before
/// the scale changes: see settle_deferred().
class PendingUnscale : public Deferred {
 public:
  /// The elements of narrow gradients on one device.
  explicit PendingUnscale(std::vector<Array> elements);

  /// The results; settle() computes their elements. float32, on the gradients' device.
  const Array& factors() const { return factors_; }        ///< [2]: 1 / scale and that of clipping
  const Array& total_norm() const { return total_norm_; }  ///< 0-dim, of the unscaled gradients

  /// The stream that was current when the pass was made: the pass runs there.
  const Stream& stream() const { return stream_; }

  /// True if these are the gradients, in this order, and none has been looked at.
  bool covers(std::span<const Tensor> gradients) const;

  /// Sets the norm to which the pass clips. Returns false if the pass has run: then the caller
  /// computes the second factor. Throws std::logic_error at a second call.
  bool clip(double max_norm);
  bool is_clipped() const;
  bool has_run() const;
  /// Returns true at the first call. The caller may then hand out total_norm(), which its user may
  /// overwrite.
  bool give_norm();

 protected:
  /// Computes the results from the elements, with the norm of clip(), if any.
  using Run = std::function<void(const std::vector<Array>& elements, std::optional<double>)>;
  /// Runs `run` now, in the place of compute(). Returns false, and does nothing, if the pass has
  /// run or belongs to another stream.
  bool settle_here(const Run& run);

 private:
  /// Runs on stream().
  virtual void compute_from(const std::vector<Array>& elements, std::optional<double> max_norm) = 0;
  void compute() final;
  void run_last(const Run& run);

  std::vector<Array> elements_;
  std::vector<const Storage*> storages_;  // compared, and never read
  Array factors_, total_norm_;
  Stream stream_;
  mutable std::mutex mutex_;  // guards what follows
  std::optional<double> max_norm_;
  bool has_run_ = false, norm_is_given_ = false;
};

/// The elements of gradients that a pass may read later: all are narrow, different, on one device,
/// and without factors. Empty for other gradients.
std::vector<Array> elements_for_pass(std::span<const Tensor> gradients);

/// Returns the pending unscale that covers exactly these gradients, or null.
std::shared_ptr<PendingUnscale> pending_pass_of(std::span<const Tensor> gradients);
/// Does the same, but returns null after clip() has been called.
std::shared_ptr<PendingUnscale> pending_unscale_of(std::span<const Tensor> gradients);

/// Makes `pending` the unscaling of these gradients, which have its elements.
void set_pending_unscale(std::span<const Tensor> gradients,
                         const std::shared_ptr<PendingUnscale>& pending);

/// The norm of gradients that pending_unscale_of() accepts, as a tensor whose element is computed
/// when something looks at it. Undefined for other gradients, and at the second call.
Tensor pending_norm_of(std::span<const Tensor> gradients);
/// True if `norm` is what pending_norm_of() returned for the gradients of `pending`.
bool is_norm_of(const Tensor& norm, const PendingUnscale& pending);

}  // namespace halfgrad::detail
