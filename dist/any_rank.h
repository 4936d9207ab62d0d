#pragma once

#include <halfgrad/dist/communicator.h>

namespace halfgrad::dist {

/// Returns true on every rank if `here` is true on at least one: an agreement, such as to stop
/// after this step because one rank got a signal. All ranks must call it. `device` is one that the
/// communicator takes arrays of. The host waits.
bool any_rank(Communicator& communicator, bool here, Device device = {});

}  // namespace halfgrad::dist
