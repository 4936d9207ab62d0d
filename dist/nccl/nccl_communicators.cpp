#include <halfgrad/dist/nccl_communicators.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <nccl.h>

#include <halfgrad/core/fail.h>
#include <halfgrad/dist/arguments.h>
#include <halfgrad/dist/nccl/nccl_communicator.h>

namespace halfgrad::dist {
namespace {

using halfgrad::detail::fail;

void expect_gpu(const char* op, Device device) {
  if (!device.is_cuda()) fail(op, "expected a GPU, got {}", device);
  if (device.index() >= cuda::device_count()) {
    fail(op, "expected a GPU below cuda:{}, got {}", cuda::device_count(), device);
  }
}

}  // namespace

std::string why_nccl_is_unavailable() { return ""; }

std::vector<std::shared_ptr<Communicator>> make_nccl_communicators(
    const std::vector<Device>& devices, std::chrono::milliseconds timeout) {
  constexpr const char* kOp = "make_nccl_communicators";
  expect_timeout(kOp, timeout);
  if (devices.empty()) fail(kOp, "expected at least one GPU, got none");
  std::vector<int> indices;
  std::vector<std::string> names;
  for (const Device device : devices) {
    expect_gpu(kOp, device);
    if (std::find(indices.begin(), indices.end(), device.index()) != indices.end()) {
      fail(kOp, "expected different GPUs, got {} twice", device);
    }
    names.push_back("rank " + std::to_string(indices.size()) + " (" + device.str() + ")");
    indices.push_back(device.index());
  }
  std::vector<ncclComm_t> comms(devices.size());
  check_nccl(ncclCommInitAll(comms.data(), static_cast<int>(devices.size()), indices.data()),
             "ncclCommInitAll", nullptr);
  std::vector<std::shared_ptr<Communicator>> communicators;
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    communicators.push_back(std::make_shared<NcclCommunicator>(comms[rank], devices[rank], names,
                                                               static_cast<int>(rank), timeout));
  }
  return communicators;
}

std::shared_ptr<Communicator> make_nccl_communicator(Communicator& host, Device device,
                                                     std::chrono::milliseconds timeout) {
  constexpr const char* kOp = "make_nccl_communicator";
  expect_timeout(kOp, timeout);
  expect_gpu(kOp, device);
  ncclUniqueId id{};
  if (host.rank() == 0) check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId", nullptr);
  const Array bytes = Array::empty({sizeof id}, kUInt8);
  std::memcpy(bytes.data(), &id, sizeof id);
  host.broadcast(bytes, 0).wait();
  std::memcpy(&id, bytes.data(), sizeof id);

  const DeviceGuard guard(device);
  ncclComm_t comm = nullptr;
  check_nccl(ncclCommInitRank(&comm, host.size(), id, host.rank()), "ncclCommInitRank", nullptr);
  std::vector<std::string> names;
  for (int rank = 0; rank < host.size(); ++rank) names.push_back(host.name_of(rank));
  return std::make_shared<NcclCommunicator>(comm, device, std::move(names), host.rank(), timeout);
}

}  // namespace halfgrad::dist
