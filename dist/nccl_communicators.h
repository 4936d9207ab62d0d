#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <halfgrad/core/device.h>
#include <halfgrad/dist/communicator.h>

/// Communicators whose ranks are GPUs, over NVIDIA's NCCL. Collectives run on a stream of the
/// communicator, the host does not wait, and a graph captures them with the step. Sums have the
/// bits that communicators of the host compute.
///
/// A collective that has not ended after the time-out, or at most twice as long, breaks its
/// communicator, as every error of NCCL does. A replay of a graph has no time-out. A graph with
/// collectives must be destroyed before their communicator.
namespace halfgrad::dist {

/// Reason why this build has no NCCL; empty if it has.
std::string why_nccl_is_unavailable();

/// Returns the communicators of the GPUs of this process, in the order of `devices`. Each is for a
/// thread of its own. Throws std::invalid_argument unless the devices are different GPUs, and
/// std::runtime_error in a build without NCCL.
///
///   auto communicators = dist::make_nccl_communicators({Device(kCUDA, 0), Device(kCUDA, 1)});
///   std::jthread other([&] { train(*communicators[1]); });
///   train(*communicators[0]);
std::vector<std::shared_ptr<Communicator>> make_nccl_communicators(
    const std::vector<Device>& devices,
    std::chrono::milliseconds timeout = std::chrono::minutes(10));

/// Returns a communicator with the ranks of `host`, of which each has its own GPU. Every rank of
/// `host` must call it; only the call itself uses `host`.
std::shared_ptr<Communicator> make_nccl_communicator(
    Communicator& host, Device device,
    std::chrono::milliseconds timeout = std::chrono::minutes(10));

}  // namespace halfgrad::dist
