#include <halfgrad/emulator/nccl/rank_call.h>

namespace halfgrad::emulator {
namespace {

bool has_root(CallKind kind) {
  return kind == CallKind::reduce || kind == CallKind::broadcast || kind == CallKind::gather ||
         kind == CallKind::scatter;
}

/// Whether input and output alias as NCCL's manual allows ("In-place Operations").
bool is_in_place(const RankCall& call, int rank) {
  const auto* input = static_cast<const std::byte*>(call.input);
  const auto* output = static_cast<const std::byte*>(call.output);
  const std::size_t own = static_cast<std::size_t>(rank) * call.bytes();
  switch (call.kind) {
    case CallKind::all_gather:
    case CallKind::gather:
      return input == output + own;
    case CallKind::reduce_scatter:
    case CallKind::scatter:
      return output == input + own;
    case CallKind::all_to_all:
      return false;
    default:
      return input == output;
  }
}

}  // namespace

std::size_t RankCall::input_bytes(int rank, int size) const {
  const std::size_t all = bytes() * static_cast<std::size_t>(size);
  switch (kind) {
    case CallKind::broadcast:
      return rank == root ? bytes() : 0;
    case CallKind::reduce_scatter:
    case CallKind::all_to_all:
      return all;
    case CallKind::scatter:
      return rank == root ? all : 0;
    case CallKind::receive:
      return 0;
    default:
      return bytes();
  }
}

std::size_t RankCall::output_bytes(int rank, int size) const {
  const std::size_t all = bytes() * static_cast<std::size_t>(size);
  switch (kind) {
    case CallKind::reduce:
      return rank == root ? bytes() : 0;
    case CallKind::all_gather:
    case CallKind::all_to_all:
      return all;
    case CallKind::gather:
      return rank == root ? all : 0;
    case CallKind::send:
      return 0;
    default:
      return bytes();
  }
}

std::string describe(const RankCall& call) {
  std::string text =
      std::string(call.function) + " of " + std::to_string(call.count) + " " + name_of(call.type);
  if (call.reduces()) text += " (" + name_of(call.reduction) + ")";
  if (has_root(call.kind)) text += ", root " + std::to_string(call.root);
  if (call.kind == CallKind::send) text += " to rank " + std::to_string(call.root);
  if (call.kind == CallKind::receive) text += " from rank " + std::to_string(call.root);
  return text;
}

bool agree(const RankCall& a, const RankCall& b) {
  if (a.is_transfer() != b.is_transfer()) return false;
  const bool same_size = a.count == b.count && bytes_of(a.type) == bytes_of(b.type);
  if (a.is_transfer()) return same_size;
  return a.kind == b.kind && same_size && a.type == b.type &&
         (!a.reduces() || a.reduction == b.reduction) && (!has_root(a.kind) || a.root == b.root);
}

std::string what_is_wrong(const RankCall& call, int rank, int size) {
  if (!is_type(call.type)) return "the datatype is not one of NCCL's";
  if (call.root < 0 || call.root >= size) {
    return "rank " + std::to_string(call.root) + " is none of " + std::to_string(size) + " ranks";
  }
  const std::size_t input = call.input_bytes(rank, size), output = call.output_bytes(rank, size);
  if (input != 0 && call.input == nullptr) return "the send buffer is null";
  if (output != 0 && call.output == nullptr) return "the receive buffer is null";
  const auto* from = static_cast<const std::byte*>(call.input);
  const auto* to = static_cast<const std::byte*>(call.output);
  const bool overlap = input != 0 && output != 0 && from < to + output && to < from + input;
  if (overlap && !is_in_place(call, rank)) {
    return "the send and receive buffers overlap, but not as a call in place does";
  }
  return "";
}

}  // namespace halfgrad::emulator
