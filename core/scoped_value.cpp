#include <halfgrad/core/scoped_value.h>

#include <map>
#include <mutex>
#include <string>

#include <halfgrad/core/warning.h>

namespace halfgrad::detail {
namespace {

struct Abandoned {
  std::mutex mutex;
  std::map<const void*, std::shared_ptr<void>> owners;
};

// Never destroyed: guards of static lifetime may end after every other static object.
Abandoned& abandoned() {
  static auto* const instance = new Abandoned;
  return *instance;
}

}  // namespace

void keep_abandoned(const void* entry, std::shared_ptr<void> owner) {
  Abandoned& all = abandoned();
  const std::lock_guard lock(all.mutex);
  all.owners[entry] = std::move(owner);
}

void release_abandoned(const void* entry) {
  std::shared_ptr<void> owner;  // destroyed after the lock is released
  Abandoned& all = abandoned();
  const std::lock_guard lock(all.mutex);
  const auto found = all.owners.find(entry);
  owner = std::move(found->second);
  all.owners.erase(found);
}

void warn_of_other_thread(const char* guard) {
  warn(std::string(guard) +
       ": expected its end on the thread that it began on, got another thread; it stays in force "
       "there until the next guard begins or ends");
}

}  // namespace halfgrad::detail
