#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <halfgrad/core/device.h>
#include <halfgrad/dist/communicator.h>

namespace halfgrad::dist {

struct ProcessGroupOptions {
  /// "mpi"; "nccl", where each rank is one GPU; or "" for the backend that fits how the program was
  /// started, which is "mpi".
  std::string backend = {};
  /// This rank's GPU for "nccl". By default rank k of a node, as the launcher counts, has cuda:k.
  std::optional<Device> device = {};
  /// Longest time in which a rank may show no progress in a collective before all ranks fail.
  std::chrono::milliseconds timeout = std::chrono::minutes(10);
  /// Lets ranks on one machine read each other's gradients, instead of sending copies: see
  /// Communicator::empty(). Has no effect if a rank is on another machine, sets it to false, or may
  /// not open the memory of another one.
  bool shared_memory = true;
};

/// Returns the communicator of all processes that mpirun or srun started, as
/// torch.distributed.init_process_group. Every one of them must call it. A program that was started
/// alone is rank 0 of 1, and needs no MPI.
///
///   const auto communicator = dist::init_process_group({.timeout = std::chrono::minutes(1)});
///
/// Ranks of backend "nccl" find each other over MPI: see nccl_communicators.h.
///
/// MPI starts here unless the program has started it before (with MPI_THREAD_MULTIPLE), and ends
/// with the program. The destructor of the communicator waits for those of the other ranks, but no
/// longer than the time-out. Throws std::invalid_argument for an unknown backend or a time-out that
/// is not positive, and std::runtime_error if several processes were started but cannot
/// communicate: the message says what to install, or how to start the program.
[[nodiscard]] std::shared_ptr<Communicator> init_process_group(
    const ProcessGroupOptions& options = {});

}  // namespace halfgrad::dist
