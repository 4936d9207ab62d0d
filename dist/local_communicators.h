#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include <halfgrad/dist/communicator.h>

namespace halfgrad::dist {

/// Returns the communicators of `size` ranks in this process, for as many threads: for tests, and
/// to watch ranks in a debugger. A collective that is not complete within `timeout` fails. Ranks
/// read each other's large arrays, or copy them as ranks on several machines do if `shared_memory`
/// is false: the results have the same bits. Throws std::invalid_argument unless `size` and
/// `timeout` are positive.
///
///   auto communicators = dist::make_local_communicators(2);
///   std::jthread other([&] { train(*communicators[1]); });
///   train(*communicators[0]);
std::vector<std::shared_ptr<Communicator>> make_local_communicators(
    int size, std::chrono::milliseconds timeout = std::chrono::minutes(10),
    bool shared_memory = true);

}  // namespace halfgrad::dist
