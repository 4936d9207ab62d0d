// Work of a part whose partners have all begun: it reads every rank's input once, and writes
// the output of its own rank.
#include <cstring>
#include <string>

#include <halfgrad/emulator/nccl/clique.h>
#include <halfgrad/emulator/runtime/process.h>

namespace halfgrad::emulator {
namespace {

/// The emulator's view of a buffer of the rank, or nullptr after a finding. NCCL accepts memory of
/// the communicator's own device only.
std::byte* view(const Clique& clique, const Member& member, const void* buffer, std::size_t bytes,
                AccessKind kind) {
  cudaPointerAttributes attributes{};
  cudaPointerGetAttributes(&attributes, buffer);
  const int device = clique.ranks[static_cast<std::size_t>(member.rank)].device;
  const char* const side = kind == AccessKind::load ? "send" : "receive";
  if (attributes.type == cudaMemoryTypeDevice && attributes.device != device) {
    report_call(FindingKind::invalid_call, member.call.function,
                "the " + std::string(side) + " buffer of rank " + std::to_string(member.rank) +
                    " is on device " + std::to_string(attributes.device) +
                    ", its communicator on device " + std::to_string(device));
    return nullptr;
  }
  return host_view(buffer, bytes, kind, member.operation, member.call.function);
}

/// Returns false if the input cannot be read.
bool read_input(const Clique& clique, Member& member) {
  if (member.is_read) return true;
  const std::size_t bytes = member.call.input_bytes(member.rank, clique.size());
  if (bytes != 0) {
    const std::byte* from = view(clique, member, member.call.input, bytes, AccessKind::load);
    if (from == nullptr) return false;
    member.sent.assign(from, from + bytes);
  }
  member.is_read = true;
  return true;
}

/// Copies `count` bytes of a rank's input.
void take(const Exchange& exchange, std::size_t member, std::size_t from, std::size_t count,
          std::byte* to) {
  std::memcpy(to, exchange.members[member].sent.data() + from, count);
}

void write_output(const Exchange& exchange, const Member& mine, int size, std::byte* to) {
  const RankCall& call = mine.call;
  const std::size_t bytes = call.bytes(), ranks = static_cast<std::size_t>(size);
  const auto rank = static_cast<std::size_t>(mine.rank), root = static_cast<std::size_t>(call.root);
  if (call.reduces()) {
    std::vector<const std::byte*> inputs;
    for (const Member& member : exchange.members) inputs.push_back(member.sent.data());
    const bool scatters = call.kind == CallKind::reduce_scatter;
    const std::size_t first = scatters ? rank * call.count : 0;
    reduce(inputs, first, first + call.count, scatters ? call.count * ranks : call.count, call.type,
           call.reduction, to);
    return;
  }
  switch (call.kind) {
    case CallKind::broadcast:
      return take(exchange, root, 0, bytes, to);
    case CallKind::scatter:
      return take(exchange, root, rank * bytes, bytes, to);
    case CallKind::receive:
      return take(exchange, 0, 0, bytes, to);
    default:
      for (std::size_t i = 0; i < ranks; ++i) {
        const std::size_t from = call.kind == CallKind::all_to_all ? rank * bytes : 0;
        take(exchange, i, from, bytes, to + i * bytes);
      }
  }
}

/// Returns false after a stray access.
bool run_exchange(const Clique& clique, Exchange& exchange, std::size_t member) {
  for (Member& each : exchange.members) {
    if (!read_input(clique, each)) return false;
  }
  const Member& mine = exchange.members[member];
  const std::size_t bytes = mine.call.output_bytes(mine.rank, clique.size());
  if (bytes == 0) return true;
  std::byte* const to = view(clique, mine, mine.call.output, bytes, AccessKind::store);
  if (to == nullptr) return false;
  write_output(exchange, mine, clique.size(), to);
  return true;
}

/// The output of a collective that was broken off counts as written, with any value: what broke it
/// is known, and later kernels that read it are not the mistake.
void give_up_output(const Clique& clique, const Member& mine) {
  const std::size_t bytes = mine.call.output_bytes(mine.rank, clique.size());
  if (bytes != 0) view(clique, mine, mine.call.output, bytes, AccessKind::store);
}

}  // namespace

void Part::run(OperationId) {
  for (const Place& place : places_) {
    if (place.exchange->broken) {
      give_up_output(*clique_, place.exchange->members[place.member]);
      continue;
    }
    if (run_exchange(*clique_, *place.exchange, place.member)) continue;
    set_error(cudaErrorIllegalAddress);
    const std::lock_guard lock(nccl_mutex());
    clique_->break_off(*place.exchange, ncclUnhandledCudaError);
  }
}

}  // namespace halfgrad::emulator
