#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include <halfgrad/dist/communicator.h>

namespace halfgrad::dist {

/// Returns the communicators of `size` ranks in this process, for as many threads: for tests, and
/// to watch ranks in a debugger. A collective that is not complete within `timeout` fails. Throws
/// std::invalid_argument unless both are positive.
///
///   auto communicators = dist::make_local_communicators(2);
///   std::jthread other([&] { train(*communicators[1]); });
///   train(*communicators[0]);
std::vector<std::shared_ptr<Communicator>> make_local_communicators(
    int size, std::chrono::milliseconds timeout = std::chrono::minutes(10));

}  // namespace halfgrad::dist
