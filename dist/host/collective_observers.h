#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>

#include <halfgrad/dist/communicator.h>

namespace halfgrad::dist {

/// The observers of a communicator's collectives.
class CollectiveObservers {
 public:
  /// See Communicator::watch().
  std::shared_ptr<void> add(std::function<void(const CollectiveSpan&)> observer);
  bool is_empty() const;
  /// Tells all observers. Their removal waits until this returns.
  void notify(const CollectiveSpan& span) const;

 private:
  struct Listed {
    std::mutex mutex;
    std::list<std::function<void(const CollectiveSpan&)>> observers;
  };
  const std::shared_ptr<Listed> listed_ = std::make_shared<Listed>();
};

}  // namespace halfgrad::dist
