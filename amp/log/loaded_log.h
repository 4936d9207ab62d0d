#pragma once

#include <cstdint>

#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// Converts StepLog::rows() of a checkpoint, on any device, to a log of this capacity: a copy on
/// the host with the newest reports. Accepts the rows of an older release, which had no losses.
/// Throws std::invalid_argument, beginning with load_records, for rows that no log has.
Array loaded_log(const Array& saved, std::int64_t capacity);

/// Throws std::invalid_argument, beginning with load_records, unless these are the counters of a
/// ScaleState.
void check_counters(const Array& saved);

}  // namespace halfgrad::detail
