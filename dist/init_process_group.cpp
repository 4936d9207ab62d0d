#include <halfgrad/dist/init_process_group.h>

#include <halfgrad/core/fail.h>
#include <halfgrad/dist/arguments.h>
#include <halfgrad/dist/launcher.h>
#include <halfgrad/dist/mpi/mpi_communicator.h>
#include <halfgrad/dist/nccl_communicators.h>
#include <halfgrad/dist/single_rank.h>

namespace halfgrad::dist {
namespace {

std::shared_ptr<Communicator> host_communicator(const Launch& launch,
                                                const ProcessGroupOptions& options) {
  if (launch.size == 1) return std::make_shared<SingleRank>();
  return make_mpi_communicator(launch, options.timeout, options.shared_memory);
}

}  // namespace

std::shared_ptr<Communicator> init_process_group(const ProcessGroupOptions& options) {
  expect_timeout("init_process_group", options.timeout);
  const bool over_nccl = options.backend == "nccl";
  if (!options.backend.empty() && options.backend != "mpi" && !over_nccl) {
    halfgrad::detail::fail("init_process_group",
                           "expected backend \"mpi\", \"nccl\" or \"\", got \"{}\"",
                           options.backend);
  }
  const Launch launch = find_launch();
  const auto host = host_communicator(launch, options);
  if (!over_nccl) return host;
  const Device device = options.device.value_or(Device(kCUDA, launch.local_rank));
  return make_nccl_communicator(*host, device, options.timeout);
}

}  // namespace halfgrad::dist
