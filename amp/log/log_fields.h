#pragma once

#include <cstdint>

/// The columns of a StepLog's rows.
namespace halfgrad::detail::log_fields {

enum Field : std::uint8_t {
  step,
  optimizer,
  scale,
  next_scale,
  found_inf,
  stepped,
  event,
  good_steps,
  bad_steps,
  nonfinite,
  first_bad_parameter,
  grad_norm,
  clip_factor,
  loss,
  losses,  ///< number of losses in the sum
  nonfinite_parameters,
  kFields
};
/// The number of columns of an older release.
inline constexpr std::int64_t kFieldsWithoutLosses = loss;

/// Columns of the last row. The losses are those of the iteration that has not ended.
enum Counter : std::uint8_t { written, iterations, loss_sum, loss_count };

}  // namespace halfgrad::detail::log_fields
