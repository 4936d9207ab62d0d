#include <halfgrad/dist/host/shared_collectives.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include <halfgrad/dist/host/combine.h>
#include <halfgrad/dist/host/parts.h>
#include <halfgrad/dist/host/values_of_ranks.h>

namespace halfgrad::dist::shared {
namespace {

// Ranks meet after this many bytes, so that a rank with a large array shows in time that it is
// alive.
constexpr std::int64_t kPiece = std::int64_t{64} << 20;

std::vector<const std::byte*> at_offset(std::span<const std::byte* const> inputs,
                                        std::int64_t bytes) {
  std::vector<const std::byte*> moved(inputs.begin(), inputs.end());
  for (const std::byte*& input : moved) input += bytes;
  return moved;
}

// Copies unless the input is already there.
void copy(const std::byte* input, std::byte* output, std::int64_t bytes) {
  if (bytes != 0 && input != output) std::memcpy(output, input, static_cast<std::size_t>(bytes));
}

}  // namespace

void all_reduce(Transport& transport, std::span<const std::byte* const> inputs, std::byte* data,
                std::int64_t n, DType dtype, ReduceOp op) {
  const std::int64_t item = item_size(dtype);
  const int rank = transport.rank(), ranks = transport.size();
  for (std::int64_t at = 0; at < n; at += kPiece / item) {
    const Parts parts{std::min(kPiece / item, n - at), ranks};
    const std::int64_t own = (at + parts.begin(rank)) * item;
    combine(dtype, op, at_offset(inputs, own), data + own, parts.size(rank));
    wait_for_ranks(transport);  // every part is combined
    for (int step = 1; step < ranks; ++step) {
      const int r = (rank + step) % ranks;  // all read from different ranks
      const std::int64_t begin = (at + parts.begin(r)) * item;
      copy(inputs[r] + begin, data + begin, parts.size(r) * item);
    }
  }
  wait_for_ranks(transport);  // no rank reads this one's array any more
}

void reduce_scatter(Transport& transport, std::span<const std::byte* const> inputs,
                    std::byte* output, std::int64_t n, DType dtype, ReduceOp op) {
  const std::int64_t item = item_size(dtype);
  for (std::int64_t at = 0; at < n; at += kPiece / item) {
    combine(dtype, op, at_offset(inputs, (transport.rank() * n + at) * item), output + at * item,
            std::min(kPiece / item, n - at));
    wait_for_ranks(transport);
  }
}

void all_gather(Transport& transport, std::span<const std::byte* const> inputs, std::byte* output,
                std::size_t bytes) {
  const auto size = static_cast<std::int64_t>(bytes);
  const int rank = transport.rank(), ranks = transport.size();
  for (std::int64_t at = 0; at < size; at += kPiece) {
    for (int step = 0; step < ranks; ++step) {
      const int r = (rank + step) % ranks;
      copy(inputs[r] + at, output + r * size + at, std::min(kPiece, size - at));
    }
    wait_for_ranks(transport);
  }
}

}  // namespace halfgrad::dist::shared
