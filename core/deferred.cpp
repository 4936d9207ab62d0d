#include <halfgrad/core/deferred.h>

#include <utility>
#include <vector>

namespace halfgrad::detail {
namespace {

struct Remembered {
  std::mutex mutex;
  std::vector<std::weak_ptr<Deferred>> all;
};

Remembered& remembered() {
  static auto* const instance = new Remembered;  // tensors may outlive statics
  return *instance;
}

}  // namespace

void remember(const std::shared_ptr<Deferred>& deferred) {
  Remembered& known = remembered();
  const std::lock_guard lock(known.mutex);
  std::erase_if(known.all, [](const auto& weak) { return weak.expired(); });
  known.all.push_back(deferred);
}

void settle_deferred() {
  std::vector<std::weak_ptr<Deferred>> all;
  {
    Remembered& known = remembered();
    const std::lock_guard lock(known.mutex);
    all = std::exchange(known.all, {});
  }
  for (const auto& weak : all) {
    if (const auto deferred = weak.lock()) deferred->settle();
  }
}

void settle_readers(const Storage& elements) {
  std::vector<std::shared_ptr<Deferred>> readers;
  {
    Remembered& known = remembered();
    const std::lock_guard lock(known.mutex);
    for (const auto& weak : known.all) {
      const auto deferred = weak.lock();
      if (deferred != nullptr && deferred->reads(elements)) readers.push_back(deferred);
    }
  }
  for (const auto& reader : readers) reader->settle();
}

}  // namespace halfgrad::detail
