#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nccl.h>

namespace halfgrad::emulator {

bool is_type(ncclDataType_t type);
std::size_t bytes_of(ncclDataType_t type);
/// "float16", "int64".
std::string name_of(ncclDataType_t type);

/// The element at an address of the host.
double value_of(const void* element, ncclDataType_t type);

/// How elements of several ranks become one.
struct Reduction {
  ncclRedOp_t op = ncclSum;  ///< ncclNumOps: a sum of products with `factor`
  double factor = 1;

  friend bool operator==(const Reduction& a, const Reduction& b) { return a.op == b.op; }
};
std::string name_of(const Reduction& reduction);

/// Combines elements `begin` to `end` of the arrays of all ranks, which have `count` elements each.
/// As NVIDIA's rings do, the sum begins at another rank in each of size() parts of the array and
/// rounds to the type after each addition, so a program cannot rely on the order of ranks.
void reduce(const std::vector<const std::byte*>& ranks, std::size_t begin, std::size_t end,
            std::size_t count, ncclDataType_t type, const Reduction& reduction, std::byte* result);

}  // namespace halfgrad::emulator
