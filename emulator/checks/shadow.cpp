#include <halfgrad/emulator/checks/shadow.h>

#include <algorithm>

namespace halfgrad::emulator {

GlobalShadow& GlobalShadow::of(const Allocations& memory) {
  static std::mutex mutex;
  static std::unordered_map<const Allocations*, std::unique_ptr<GlobalShadow>> shadows;
  const std::lock_guard lock(mutex);
  auto& shadow = shadows[&memory];
  if (shadow == nullptr) shadow = std::make_unique<GlobalShadow>();
  return *shadow;
}

ShadowPage& GlobalShadow::page(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  auto& page = pages_[number];
  if (page == nullptr) page = std::make_unique<ShadowPage>();
  return *page;
}

void GlobalShadow::forget(std::uint64_t begin, std::uint64_t end) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t first = (begin + ShadowPage::kBytes - 1) >> ShadowPage::kBytesLog;
  for (std::uint64_t number = first; number < end >> ShadowPage::kBytesLog; ++number) {
    const auto found = pages_.find(number);
    if (found == pages_.end()) continue;
    const PageLock page_lock(*found->second);
    found->second->forget();
  }
}

void GlobalShadow::forget_bytes(std::uint64_t begin, std::uint64_t end) {
  while (begin < end) {
    const std::uint64_t first = begin >> ShadowPage::kBytesLog << ShadowPage::kBytesLog;
    const std::uint64_t last = std::min(end, first + ShadowPage::kBytes);
    ShadowPage& here = page(begin >> ShadowPage::kBytesLog);
    const PageLock lock(here);
    here.forget(static_cast<unsigned>(begin - first), static_cast<unsigned>(last - first));
    begin = last;
  }
}

std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> serial{0};
  return serial.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace halfgrad::emulator
