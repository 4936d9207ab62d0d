#pragma once

#include <functional>
#include <memory>

#include "ranks.h"

namespace halfgrad::dist {

/// Does what on_ranks() does, for code that keeps the communicator.
inline void on_shared_ranks(int size,
                            const std::function<void(const std::shared_ptr<Communicator>&)>& f) {
  const Communicators all = make_local_communicators(size, std::chrono::seconds(60));
  on_ranks(all, [&](Communicator& communicator) { f(all[communicator.rank()]); });
}

}  // namespace halfgrad::dist
