#pragma once

#include <string>

#include <halfgrad/core/device.h>

namespace halfgrad::dist {

/// How many processes the launcher of this program says that it started.
struct Launch {
  int size = 1;
  std::string variable = {};  ///< the variable of the environment that says so; empty if none does
  int local_rank = 0;         ///< counts the processes of this node
};

/// Reads the variables that mpirun of Open MPI and of MPICH, and Slurm's srun, set in each process.
/// Throws std::runtime_error if one is not a positive integer, and if only torchrun, which no
/// backend can use, started the program.
Launch find_launch();

/// Returns the GPU of a process of a node that has `gpus` of them: cuda:k for the process k, as
/// init_process_group() chooses for "nccl". Processes beyond the last GPU begin again at cuda:0;
/// they can share one with the backend "mpi" only. Throws std::invalid_argument unless gpus > 0.
///
///   const Device device = dist::gpu_of(dist::find_launch(), cuda::device_count());
Device gpu_of(const Launch& launch, int gpus);

}  // namespace halfgrad::dist
