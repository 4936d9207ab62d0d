// Communicators: how ranks find each other and leave, and what programs ask about them.
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <limits>

#include <unistd.h>

#include <halfgrad/emulator/nccl/communicator.h>
#include <halfgrad/emulator/runtime/process.h>
#include <halfgrad/emulator/runtime/work.h>

namespace halfgrad::emulator {
namespace {

/// Contents of an ncclUniqueId.
struct Id {
  std::uint32_t magic = ncclComm::kMagic;
  int process = 0;
  std::uint64_t number = 0;
};

std::condition_variable& rank_has_joined() {
  static auto& variable = *new std::condition_variable;
  return variable;
}

/// The ranks of an id, which the first of them makes.
std::shared_ptr<Clique> clique_of(std::uint64_t number, int size) {
  static auto& cliques = *new std::map<std::uint64_t, std::weak_ptr<Clique>>;
  const std::lock_guard lock(nccl_mutex());
  std::shared_ptr<Clique> clique = cliques[number].lock();
  if (clique == nullptr) {
    clique = std::make_shared<Clique>(size);
    cliques[number] = clique;
  }
  return clique;
}

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

ncclResult_t init_rank(ncclComm_t* out, int size, const ncclUniqueId& unique, int rank,
                       const char* function) {
  Id id;
  std::memcpy(&id, unique.internal, sizeof id);
  if (out == nullptr || size < 1 || rank < 0 || rank >= size) {
    return refuse_nccl(function, ncclInvalidArgument,
                       "rank " + std::to_string(rank) + " of " + std::to_string(size));
  }
  if (id.magic != ncclComm::kMagic) {
    return refuse_nccl(function, ncclInvalidArgument, "the id is not from ncclGetUniqueId");
  }
  if (id.process != ::getpid()) {
    report_call(FindingKind::unknown_function, function,
                "the id is from another process; the emulator unites the devices of one process");
    return ncclSystemError;
  }
  const std::shared_ptr<Clique> clique = clique_of(id.number, size);
  if (clique->size() != size) {
    return refuse_nccl(function, ncclInvalidArgument,
                       "rank " + std::to_string(rank) + " expects " + std::to_string(size) +
                           " ranks, another rank " + std::to_string(clique->size()));
  }
  return join_clique(out, clique, rank, current_device(), function);
}

/// Ends what waits for the rank and wakes the threads that wait for it.
void leave(ncclComm& communicator, Left how) {
  {
    const std::lock_guard lock(nccl_mutex());
    communicator.clique->leave(communicator.rank, how);
    communicator.magic = 0;
  }
  run_released_work();
  delete &communicator;
}

/// ncclCommDestroy waits for the rank's calls, as NCCL does.
void wait_for_calls(const ncclComm& communicator) {
  std::uint64_t unfinished = 0;
  {
    const std::lock_guard lock(nccl_mutex());
    unfinished = communicator.clique->rank(communicator.rank).unfinished;
  }
  if (unfinished == 0) return;
  const OnDevice scope(communicator.device());
  cudaDeviceSynchronize();
}

template <class F>
ncclResult_t ask(ncclComm_t communicator, int* out, const char* function, F value) {
  if (!is_communicator(communicator, function)) return ncclInvalidArgument;
  if (out == nullptr) return refuse_nccl(function, ncclInvalidArgument, "the result is null");
  *out = value(*communicator);
  return ncclSuccess;
}

}  // namespace

bool is_communicator(ncclComm_t communicator, const char* function) {
  if (communicator != nullptr && communicator->magic == ncclComm::kMagic) return true;
  refuse_nccl(function, ncclInvalidArgument, "the communicator is not valid");
  return false;
}

ncclResult_t wait_for_ranks(const ncclComm& communicator, const char* function) {
  rank_has_joined().notify_all();
  std::unique_lock lock(nccl_mutex());
  const auto missing = [&] {
    int rank = 0;
    while (rank < communicator.size() && communicator.clique->rank(rank).joined) ++rank;
    return rank;
  };
  const std::chrono::milliseconds patience(process().settings.collective_patience);
  if (rank_has_joined().wait_for(lock, patience, [&] { return missing() == communicator.size(); }))
    return ncclSuccess;
  report_call(FindingKind::deadlock, function,
              "rank " + std::to_string(communicator.rank) + " waits for rank " +
                  std::to_string(missing()) + " of " + std::to_string(communicator.size()) +
                  ", which has not called it");
  return ncclSystemError;
}

}  // namespace halfgrad::emulator

using namespace halfgrad::emulator;

HALFGRAD_EMULATOR_API ncclResult_t ncclGetUniqueId(ncclUniqueId* out) {
  if (out == nullptr) return refuse_nccl("ncclGetUniqueId", ncclInvalidArgument, "null");
  const Id id{ncclComm::kMagic, static_cast<int>(::getpid()), next_id()};
  std::memset(out->internal, 0, sizeof out->internal);
  std::memcpy(out->internal, &id, sizeof id);
  return ncclSuccess;
}

HALFGRAD_EMULATOR_API ncclResult_t ncclCommInitRank(ncclComm_t* out, int size, ncclUniqueId id,
                                                    int rank) {
  return init_rank(out, size, id, rank, "ncclCommInitRank");
}
/// The options tune what is not emulated. A communicator that asks not to block is ready at once.
HALFGRAD_EMULATOR_API ncclResult_t ncclCommInitRankConfig(ncclComm_t* out, int size,
                                                          ncclUniqueId id, int rank,
                                                          ncclConfig_t*) {
  return init_rank(out, size, id, rank, "ncclCommInitRankConfig");
}

HALFGRAD_EMULATOR_API ncclResult_t ncclCommInitAll(ncclComm_t* out, int size, const int* devices) {
  constexpr const char* kFunction = "ncclCommInitAll";
  if (out == nullptr || size < 1 || size > process().settings.devices) {
    return refuse_nccl(kFunction, ncclInvalidArgument,
                       std::to_string(size) + " ranks on " +
                           std::to_string(process().settings.devices) + " devices");
  }
  const auto device_of = [&](int rank) { return devices == nullptr ? rank : devices[rank]; };
  for (int rank = 0; rank < size; ++rank) {
    const int device = device_of(rank);
    if (device < 0 || device >= process().settings.devices) {
      return refuse_nccl(kFunction, ncclInvalidArgument,
                         "there is no device " + std::to_string(device));
    }
    for (int other = 0; other < rank; ++other) {
      if (device_of(other) != device) continue;
      return refuse_nccl(kFunction, ncclInvalidUsage,
                         "two ranks share device " + std::to_string(device));
    }
  }
  const std::shared_ptr<Clique> clique = clique_of(next_id(), size);
  ncclGroupStart();
  for (int rank = 0; rank < size; ++rank) {
    join_clique(out + rank, clique, rank, device_of(rank), kFunction);
  }
  return ncclGroupEnd();
}

HALFGRAD_EMULATOR_API ncclResult_t ncclCommFinalize(ncclComm_t communicator) {
  if (!is_communicator(communicator, "ncclCommFinalize")) return ncclInvalidArgument;
  wait_for_calls(*communicator);
  communicator->is_finalized = true;
  return ncclSuccess;
}
HALFGRAD_EMULATOR_API ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  if (communicator == nullptr) return ncclSuccess;
  if (!is_communicator(communicator, "ncclCommDestroy")) return ncclInvalidArgument;
  wait_for_calls(*communicator);
  leave(*communicator, Left::destroyed);
  return ncclSuccess;
}
HALFGRAD_EMULATOR_API ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  if (communicator == nullptr) return ncclSuccess;
  if (!is_communicator(communicator, "ncclCommAbort")) return ncclInvalidArgument;
  leave(*communicator, Left::aborted);
  return ncclSuccess;
}

HALFGRAD_EMULATOR_API ncclResult_t ncclCommCount(const ncclComm_t communicator, int* count) {
  return ask(communicator, count, "ncclCommCount", [](const ncclComm& c) { return c.size(); });
}
HALFGRAD_EMULATOR_API ncclResult_t ncclCommUserRank(const ncclComm_t communicator, int* rank) {
  return ask(communicator, rank, "ncclCommUserRank", [](const ncclComm& c) { return c.rank; });
}
HALFGRAD_EMULATOR_API ncclResult_t ncclCommCuDevice(const ncclComm_t communicator, int* device) {
  return ask(communicator, device, "ncclCommCuDevice",
             [](const ncclComm& c) { return c.device(); });
}
HALFGRAD_EMULATOR_API ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator,
                                                         ncclResult_t* out) {
  if (!is_communicator(communicator, "ncclCommGetAsyncError")) return ncclInvalidArgument;
  const std::lock_guard lock(nccl_mutex());
  *out = communicator->clique->rank(communicator->rank).async_error;
  return ncclSuccess;
}
