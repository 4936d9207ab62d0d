#include <halfgrad/dist/host/collectives.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include <halfgrad/core/array.h>
#include <halfgrad/dist/host/combine.h>
#include <halfgrad/dist/host/message_memory.h>
#include <halfgrad/dist/host/parts.h>
#include <halfgrad/dist/host/shared_collectives.h>
#include <halfgrad/dist/host/values_of_ranks.h>

namespace halfgrad::dist {
namespace {

// Arrays up to this size are sent whole to every rank, in one exchange in place of two.
constexpr std::int64_t kSmall = 4096;

// Larger arrays are combined in pieces of this size, which bounds the memory for received parts.
// Pieces do not change a result, because each element is combined on its own. Those of 4 MiB stay
// in the caches between their arrival and their sum; smaller ones wait for more messages.
constexpr std::int64_t kPiece = std::int64_t{4} << 20;

// The parts as bytes of the memory at `data`; `item` is the size of an element.
template <class Bytes, class Byte>
std::vector<Bytes> spans(const Parts& parts, Byte* data, std::int64_t item) {
  std::vector<Bytes> result;
  for (int r = 0; r < parts.ranks; ++r) {
    result.emplace_back(data + parts.begin(r) * item, parts.size(r) * item);
  }
  return result;
}

// The same number of bytes from each rank, one after another.
std::vector<ReceivedBytes> rows(std::byte* data, std::int64_t bytes, int ranks) {
  return spans<ReceivedBytes>(Parts{bytes * ranks, ranks}, data, 1);
}

MessageMemory memory_of_bytes(std::int64_t bytes) {
  return MessageMemory(Array::empty({bytes}, kUInt8));
}

// Sends sends[r] to rank r, and combines what arrives with this rank's own part into `out`.
void combine_received(Transport& transport, std::span<const SentBytes> sends, std::byte* out,
                      DType dtype, ReduceOp op) {
  const int rank = transport.rank(), ranks = transport.size();
  const auto bytes = static_cast<std::int64_t>(sends[rank].size());
  const MessageMemory received = memory_of_bytes(bytes * ranks);
  const std::vector<ReceivedBytes> receives = rows(received.data(), bytes, ranks);
  transport.exchange(sends, receives);

  std::vector<const std::byte*> operands;
  for (int r = 0; r < ranks; ++r) {
    operands.push_back(r == rank ? sends[r].data() : receives[r].data());
  }
  combine(dtype, op, operands, out, bytes / item_size(dtype));
}

// Sends each rank's part of `data` to all.
void gather_parts(Transport& transport, std::byte* data, const Parts& parts, std::int64_t item) {
  const auto receives = spans<ReceivedBytes>(parts, data, item);
  exchange_with_all(transport, receives[transport.rank()], receives);
}

void reduce_small(Transport& transport, std::byte* data, std::int64_t n, DType dtype, ReduceOp op) {
  const SentBytes whole(data, n * item_size(dtype));
  combine_received(transport, std::vector(transport.size(), whole), data, dtype, op);
}

}  // namespace

void expect_same_call(Transport& transport, const Call& call) {
  const std::vector<Call> calls = values_of_ranks(transport, call);
  for (int r = 0; r < transport.size(); ++r) {
    if (calls[r] == call) continue;
    throw CommunicationError("expected the same call on every rank, got " + to_string(calls[r]) +
                             " on " + transport.name_of(r));
  }
}

void all_reduce(Transport& transport, std::byte* data, std::int64_t n, DType dtype, ReduceOp op) {
  const std::int64_t item = item_size(dtype);
  if (n * item <= kSmall) return reduce_small(transport, data, n, dtype, op);
  if (const auto inputs = transport.addresses(data); !inputs.empty()) {
    return shared::all_reduce(transport, inputs, data, n, dtype, op);
  }
  for (std::int64_t at = 0; at < n; at += kPiece / item) {
    const Parts parts{std::min(kPiece / item, n - at), transport.size()};
    std::byte* const piece = data + at * item;
    combine_received(transport, spans<SentBytes>(parts, piece, item),
                     piece + parts.begin(transport.rank()) * item, dtype, op);
    gather_parts(transport, piece, parts, item);
  }
}

void reduce_scatter(Transport& transport, std::byte* output, const std::byte* input, std::int64_t n,
                    DType dtype, ReduceOp op) {
  const std::int64_t item = item_size(dtype);
  if (n * item > kSmall) {
    const auto inputs = transport.addresses(input);
    if (!inputs.empty()) {
      return shared::reduce_scatter(transport, inputs, output, n, dtype, op);
    }
  }
  const std::int64_t piece = std::max<std::int64_t>(1, kPiece / item / transport.size());
  for (std::int64_t at = 0; at < n; at += piece) {
    std::vector<SentBytes> sends;
    for (int r = 0; r < transport.size(); ++r) {
      sends.emplace_back(input + (r * n + at) * item, std::min(piece, n - at) * item);
    }
    combine_received(transport, sends, output + at * item, dtype, op);
  }
}

void all_gather(Transport& transport, std::byte* output, const std::byte* input,
                std::size_t bytes) {
  if (static_cast<std::int64_t>(bytes) > kSmall) {
    const auto inputs = transport.addresses(input);
    if (!inputs.empty()) return shared::all_gather(transport, inputs, output, bytes);
  }
  const int rank = transport.rank();
  const auto receives = rows(output, static_cast<std::int64_t>(bytes), transport.size());
  if (bytes != 0 && receives[rank].data() != input) {
    std::memcpy(receives[rank].data(), input, bytes);
  }
  exchange_with_all(transport, receives[rank], receives);
}

void broadcast(Transport& transport, std::byte* data, std::size_t bytes, int root) {
  const int rank = transport.rank(), ranks = transport.size();
  const auto n = static_cast<std::int64_t>(bytes);
  // Every rank gets all of a small array from the root.
  const bool small = n <= kSmall;
  const Parts parts{n, ranks};
  std::vector<SentBytes> sends(ranks);
  std::vector<ReceivedBytes> receives(ranks);
  if (rank == root) {
    sends = small ? std::vector(ranks, SentBytes(data, bytes)) : spans<SentBytes>(parts, data, 1);
  } else {
    receives[root] =
        small ? ReceivedBytes(data, bytes) : spans<ReceivedBytes>(parts, data, 1)[rank];
  }
  transport.exchange(sends, receives);
  if (small) return;

  sends.assign(ranks, spans<SentBytes>(parts, data, 1)[rank]);
  receives = spans<ReceivedBytes>(parts, data, 1);
  sends[root] = {};  // the root has all parts
  if (rank == root) receives.assign(ranks, {});
  transport.exchange(sends, receives);
}

}  // namespace halfgrad::dist
