#include <halfgrad/dist/mpi/mpi_communicator.h>

#include <halfgrad/core/fail.h>
#include <halfgrad/dist/host/host_communicator.h>
#include <halfgrad/dist/mpi/mpi_transport.h>

namespace halfgrad::dist {

std::shared_ptr<Communicator> make_mpi_communicator(const Launch& launch,
                                                    std::chrono::milliseconds timeout,
                                                    bool shared_memory) {
  auto transport = std::make_unique<MpiTransport>(timeout, shared_memory);
  if (transport->size() != launch.size) {
    halfgrad::detail::fail<std::runtime_error>(
        "init_process_group",
        "expected {} ranks, as {} says, got {} from MPI; start the program by the mpirun of the "
        "MPI that halfgrad was built with, or by srun --mpi=pmix",
        launch.size, launch.variable, transport->size());
  }
  return std::make_shared<HostCommunicator>(std::move(transport));
}

}  // namespace halfgrad::dist
