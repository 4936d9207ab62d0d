#pragma once

#include <cstdint>
#include <string>

#include <halfgrad/core/dtype.h>
#include <halfgrad/dist/communicator.h>

namespace halfgrad::dist {

enum class Collective : std::int32_t { all_reduce, reduce_scatter, all_gather, broadcast, barrier };

/// The description of a rank's call. Ranks exchange it, as bytes without padding, before each
/// collective.
struct Call {
  std::int64_t number = 0;  ///< 1 for the first collective of a communicator
  std::int64_t count = 0;   ///< elements of the input
  Collective collective = Collective::barrier;
  std::int32_t op = 0;     ///< a ReduceOp
  std::int32_t dtype = 0;  ///< a DType
  std::int32_t root = 0;

  friend bool operator==(const Call&, const Call&) = default;
};

const char* name(Collective collective);

/// Returns text such as "all_reduce (sum) of 10 float32, collective 3".
std::string to_string(const Call& call);

}  // namespace halfgrad::dist
