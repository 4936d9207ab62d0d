// Stands in for NCCL in a build without it.
#include <stdexcept>

#include <halfgrad/core/fail.h>
#include <halfgrad/dist/nccl_communicators.h>

namespace halfgrad::dist {

std::string why_nccl_is_unavailable() {
  return "this build has no NCCL: it needs the CUDA backend, and nccl.h and libnccl of NCCL";
}

std::vector<std::shared_ptr<Communicator>> make_nccl_communicators(const std::vector<Device>&,
                                                                   std::chrono::milliseconds) {
  halfgrad::detail::fail<std::runtime_error>("make_nccl_communicators", "expected NCCL, but {}",
                                             why_nccl_is_unavailable());
}

std::shared_ptr<Communicator> make_nccl_communicator(Communicator&, Device,
                                                     std::chrono::milliseconds) {
  halfgrad::detail::fail<std::runtime_error>("make_nccl_communicator", "expected NCCL, but {}",
                                             why_nccl_is_unavailable());
}

}  // namespace halfgrad::dist
