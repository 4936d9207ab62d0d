// ncclGroupStart and ncclGroupEnd: a group's calls on one communicator are one piece of work.
#include <algorithm>
#include <utility>

#include <halfgrad/emulator/nccl/communicator.h>
#include <halfgrad/emulator/runtime/process.h>
#include <halfgrad/emulator/runtime/work.h>

namespace halfgrad::emulator {
namespace {

struct PendingCall {
  ncclComm_t communicator;
  cudaStream_t stream;
  RankCall call;
};

/// Calls of this thread since its outermost ncclGroupStart.
struct Group {
  int depth = 0;
  ncclResult_t error = ncclSuccess;
  std::vector<PendingCall> calls;
  std::vector<std::pair<ncclComm_t, const char*>> joining;
};
thread_local Group group;

std::uint64_t thread_number() {
  static std::atomic<std::uint64_t> last{0};
  thread_local const std::uint64_t number = ++last;
  return number;
}
std::uint64_t next_group() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

WorkCost cost_of(const ncclComm& communicator, const std::vector<RankCall>& calls) {
  WorkCost cost;
  for (const RankCall& call : calls) {
    cost.bytes += call.input_bytes(communicator.rank, communicator.size()) +
                  call.output_bytes(communicator.rank, communicator.size());
  }
  return cost;
}

bool is_capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(stream, &status);
  return status != cudaStreamCaptureStatusNone;
}

/// Orders work on `later` after that on `earlier`.
cudaError_t order(cudaStream_t earlier, cudaStream_t later) {
  cudaEvent_t event = nullptr;
  cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  if (error == cudaSuccess) error = cudaEventRecord(event, earlier);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(later, event, 0);
  cudaEventDestroy(event);
  return error;
}

/// All of a group's streams wait for each other before and after the work.
ncclResult_t give(const ncclComm& communicator, const std::vector<cudaStream_t>& streams,
                  std::vector<RankCall> calls, std::uint64_t number) {
  const OnDevice scope(communicator.device());
  const cudaStream_t main = streams.front();
  Work work;
  work.kind = WorkKind::library;
  work.name = calls.size() == 1 ? calls[0].function : "ncclGroupEnd";
  work.detail = calls.size() == 1 ? describe(calls[0]) : std::to_string(calls.size()) + " calls";
  work.cost = cost_of(communicator, calls);
  work.device = communicator.device();
  const std::uint64_t group_number = is_capturing(main) ? 0 : number;
  work.meet = [clique = communicator.clique, rank = communicator.rank, calls = std::move(calls),
               group_number, thread = thread_number()] {
    return std::make_shared<Part>(clique, rank, calls, group_number, thread);
  };
  cudaError_t error = cudaSuccess;
  for (std::size_t i = 1; i < streams.size() && error == cudaSuccess; ++i) {
    error = order(streams[i], main);
  }
  if (error == cudaSuccess) error = enqueue(main, std::move(work));
  for (std::size_t i = 1; i < streams.size() && error == cudaSuccess; ++i) {
    error = order(main, streams[i]);
  }
  return error == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t give_all(std::vector<PendingCall> pending) {
  const std::uint64_t number = next_group();
  ncclResult_t result = ncclSuccess;
  while (!pending.empty()) {
    const ncclComm_t communicator = pending.front().communicator;
    std::vector<cudaStream_t> streams;
    std::vector<RankCall> calls;
    std::vector<PendingCall> others;
    for (const PendingCall& one : pending) {
      if (one.communicator != communicator) {
        others.push_back(one);
        continue;
      }
      calls.push_back(one.call);
      if (std::find(streams.begin(), streams.end(), one.stream) == streams.end()) {
        streams.push_back(one.stream);
      }
    }
    const ncclResult_t error = give(*communicator, streams, std::move(calls), number);
    if (result == ncclSuccess) result = error;
    pending = std::move(others);
  }
  return result;
}

}  // namespace

OnDevice::OnDevice(int device) : before_(current_device()) {
  if (device != before_) cudaSetDevice(device);
}
OnDevice::~OnDevice() {
  if (current_device() != before_) cudaSetDevice(before_);
}

ncclResult_t give_call(ncclComm_t communicator, cudaStream_t stream, const RankCall& call) {
  const auto refuse = [&](ncclResult_t result, const std::string& reason) {
    if (group.depth != 0) group.error = result;
    return refuse_nccl(call.function, result, reason);
  };
  if (!is_communicator(communicator, call.function)) return ncclInvalidArgument;
  if (communicator->is_finalized) {
    return refuse(ncclInvalidUsage, "the communicator is finalized");
  }
  const std::string wrong = what_is_wrong(call, communicator->rank, communicator->size());
  if (!wrong.empty()) return refuse(ncclInvalidArgument, wrong);
  if (call.count == 0) return ncclSuccess;
  group.calls.push_back({communicator, stream, call});
  if (group.depth != 0) return ncclSuccess;
  return give_all(std::exchange(group.calls, {}));
}

ncclResult_t join_clique(ncclComm_t* out, std::shared_ptr<Clique> clique, int rank, int device,
                         const char* function) {
  const auto refuse = [&](const std::string& reason) {
    if (group.depth != 0) group.error = ncclInvalidUsage;
    return refuse_nccl(function, ncclInvalidUsage, reason);
  };
  {
    const std::lock_guard lock(nccl_mutex());
    if (clique->rank(rank).joined) {
      return refuse("rank " + std::to_string(rank) + " has joined already");
    }
    for (const Clique::Rank& other : clique->ranks) {
      if (!other.joined || other.device != device) continue;
      return refuse("two ranks share device " + std::to_string(device));
    }
    clique->rank(rank).joined = true;
    clique->rank(rank).device = device;
  }
  *out = new ncclComm;
  (*out)->clique = std::move(clique);
  (*out)->rank = rank;
  group.joining.emplace_back(*out, function);
  if (group.depth != 0) return ncclSuccess;
  return ncclGroupStart() == ncclSuccess ? ncclGroupEnd() : ncclInternalError;
}

}  // namespace halfgrad::emulator

using namespace halfgrad::emulator;

HALFGRAD_EMULATOR_API ncclResult_t ncclGroupStart() {
  ++group.depth;
  return ncclSuccess;
}

HALFGRAD_EMULATOR_API ncclResult_t ncclGroupEnd() {
  if (group.depth == 0) {
    return refuse_nccl("ncclGroupEnd", ncclInvalidUsage, "there is no ncclGroupStart before it");
  }
  if (--group.depth != 0) return ncclSuccess;
  Group ended = std::exchange(group, {});
  for (const auto& [communicator, function] : ended.joining) {
    if (ended.error != ncclSuccess) break;
    const ncclResult_t error = wait_for_ranks(*communicator, function);
    ended.error = error;
  }
  // As in NCCL, a group with a wrong call does nothing.
  if (ended.error != ncclSuccess) return ended.error;
  return give_all(std::move(ended.calls));
}
