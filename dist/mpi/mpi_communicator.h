#pragma once

#include <chrono>
#include <memory>

#include <halfgrad/dist/communicator.h>
#include <halfgrad/dist/launcher.h>

namespace halfgrad::dist {

/// Returns the communicator of all processes of MPI_COMM_WORLD, as many as `launch` says.
/// `shared_memory`: see ProcessGroupOptions. Throws std::runtime_error in a build without MPI.
std::shared_ptr<Communicator> make_mpi_communicator(const Launch& launch,
                                                    std::chrono::milliseconds timeout,
                                                    bool shared_memory);

}  // namespace halfgrad::dist
