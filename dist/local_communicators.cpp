#include <halfgrad/dist/local_communicators.h>

#include <halfgrad/core/fail.h>
#include <halfgrad/dist/arguments.h>
#include <halfgrad/dist/host/host_communicator.h>
#include <halfgrad/dist/host/local_transport.h>
#include <halfgrad/dist/single_rank.h>

namespace halfgrad::dist {

std::vector<std::shared_ptr<Communicator>> make_local_communicators(
    int size, std::chrono::milliseconds timeout, bool shared_memory) {
  if (size < 1) {
    halfgrad::detail::fail("make_local_communicators", "expected at least 1 rank, got {}", size);
  }
  expect_timeout("make_local_communicators", timeout);
  std::vector<std::shared_ptr<Communicator>> communicators;
  if (size == 1) {
    communicators.push_back(std::make_shared<SingleRank>());
    return communicators;
  }
  const auto group = std::make_shared<LocalGroup>(size);
  for (int rank = 0; rank < size; ++rank) {
    communicators.push_back(std::make_shared<HostCommunicator>(
        std::make_unique<LocalTransport>(group, rank, timeout, shared_memory)));
  }
  return communicators;
}

}  // namespace halfgrad::dist
