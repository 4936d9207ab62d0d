#include <halfgrad/dist/init_process_group.h>

#include <halfgrad/core/fail.h>
#include <halfgrad/dist/arguments.h>
#include <halfgrad/dist/launcher.h>
#include <halfgrad/dist/mpi/mpi_communicator.h>
#include <halfgrad/dist/single_rank.h>

namespace halfgrad::dist {

std::shared_ptr<Communicator> init_process_group(const ProcessGroupOptions& options) {
  expect_timeout("init_process_group", options.timeout);
  if (!options.backend.empty() && options.backend != "mpi") {
    halfgrad::detail::fail("init_process_group", "expected backend \"mpi\" or \"\", got \"{}\"",
                           options.backend);
  }
  const Launch launch = find_launch();
  if (launch.size == 1) return std::make_shared<SingleRank>();
  return make_mpi_communicator(launch, options.timeout);
}

}  // namespace halfgrad::dist
