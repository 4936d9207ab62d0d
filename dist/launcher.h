#pragma once

#include <string>

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

}  // namespace halfgrad::dist
