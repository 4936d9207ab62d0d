// Stands in for MPI in a build without it.
#include <halfgrad/core/fail.h>
#include <halfgrad/dist/mpi/mpi_communicator.h>

namespace halfgrad::dist {

std::shared_ptr<Communicator> make_mpi_communicator(const Launch& launch,
                                                    std::chrono::milliseconds /*timeout*/,
                                                    bool /*shared_memory*/) {
  halfgrad::detail::fail<std::runtime_error>(
      "init_process_group",
      "expected a build with MPI, since {}={} processes were started, got one without; install "
      "libopenmpi-dev or libmpich-dev and configure again with -DHALFGRAD_MPI=ON",
      launch.variable, launch.size);
}

}  // namespace halfgrad::dist
