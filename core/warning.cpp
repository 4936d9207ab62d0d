#include <halfgrad/core/warning.h>

#include <mutex>
#include <set>
#include <tuple>

namespace halfgrad::detail {

void warn_once(const CallSite& site, const std::string& op, const std::string& message) {
  static std::mutex mutex;
  static std::set<std::tuple<std::string, int, std::string>> warned;
  {
    const std::lock_guard lock(mutex);
    if (!warned.emplace(site.file, site.line, op).second) return;
  }
  warn(op + ": " + message + "; called at " + site.file + ":" + std::to_string(site.line));
}

}  // namespace halfgrad::detail
