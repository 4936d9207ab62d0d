#include <halfgrad/emulator/checks/host_watch.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <sys/mman.h>

#include <halfgrad/emulator/checks/shadow.h>
#include <halfgrad/emulator/memory/host_guard.h>

namespace halfgrad::emulator {
namespace {

constexpr std::uint64_t kPage = ShadowPage::kBytes;
constexpr std::size_t kMostPages = 16;        ///< watched pages of an allocation
constexpr std::size_t kMostAllocations = 64;  ///< with more, nothing is watched

std::uint64_t page_of(std::uint64_t address) { return address / kPage * kPage; }

/// The pages that are inaccessible between two calls of the program.
struct Watch {
  std::mutex mutex;
  const Allocations* memory = nullptr;
  FindingLog* findings = nullptr;
  const OperationOrder* order = nullptr;
  OperationId host = 0;
  std::set<std::uint64_t> pages;       ///< addresses of inaccessible pages
  std::set<std::uint64_t> released;    ///< pages that were inaccessible before
  std::set<OperationId> communicates;  ///< kernels that wrote host memory by strong accesses
};

Watch& watch() {
  static auto* const one = new Watch;  // never destroyed, as the process
  return *one;
}

std::atomic<bool> is_watching{false};
std::atomic<int> pauses{0};
thread_local bool holds_watch = false;

/// Holds the mutex. A fault of the thread meanwhile is one of the emulator's own, which must not
/// wait for the mutex.
class Hold {
 public:
  explicit Hold(Watch& one) : lock_(one.mutex) { holds_watch = true; }
  ~Hold() { holds_watch = false; }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  std::lock_guard<std::mutex> lock_;
};

/// An operation of the slot that the host has not waited for, or 0.
OperationId unfinished(const Watch& here, const ShadowPage& page, const Slot& slot) {
  if (slot.clock == 0) return 0;
  for (const OperationId id : page.operations(slot).ids) {
    if (id != 0 && id != here.host && !here.order->ordered(id, here.host)) return id;
  }
  return 0;
}

/// Whether unfinished work has touched all words of [begin, end), which lie in the page.
bool all_touched(Watch& here, ShadowPage& page, std::uint64_t begin, std::uint64_t end) {
  const PageLock lock(page);
  const auto touched = [&](const Cell& cell) {
    const OperationId writer = unfinished(here, page, cell.write);
    if (writer != 0 && (cell.write.strong || cell.write.listed)) here.communicates.insert(writer);
    return writer != 0 || unfinished(here, page, cell.read) != 0;
  };
  if (page.cells() == nullptr) return touched(page.whole);
  bool all = true;
  const unsigned log = page.cell_log();
  for (std::uint64_t i = (begin % kPage) >> log; i <= ((end - 1) % kPage) >> log; ++i) {
    all &= touched(page.cells()[i]);
  }
  return all;
}

void protect(std::uint64_t page, int protection) {
  mprotect(reinterpret_cast<void*>(page), kPage, protection);
}

std::string message_of(const Watch& here, OperationId work, bool host_writes, bool work_writes) {
  return std::string("the host ") + (host_writes ? "writes" : "reads") + " memory that " +
         here.order->describe(work) + (work_writes ? " writes" : " reads") +
         ", before it has waited for it: expected cudaStreamSynchronize, cudaEventSynchronize or "
         "cudaDeviceSynchronize before";
}

/// Reports the host's access to a word if it races with unfinished work.
void check_access(Watch& here, std::uint64_t address, bool writes) {
  ShadowPage& page = GlobalShadow::of(*here.memory).page(address / kPage);
  OperationId other = 0;
  bool work_writes = true;
  {
    const PageLock lock(page);
    const Cell cell =
        page.cells() == nullptr ? page.whole : page.cells()[(address % kPage) >> page.cell_log()];
    if (!cell.write.strong && !cell.write.listed) other = unfinished(here, page, cell.write);
    if (other == 0 && writes && !cell.read.strong) {
      other = unfinished(here, page, cell.read);
      work_writes = false;
    }
  }
  const Allocation* const allocation = here.memory->find(address, 1);
  if (other == 0 || here.communicates.count(other) != 0 || allocation == nullptr) return;
  Finding finding;
  finding.kind = FindingKind::stream_race;
  finding.message = message_of(here, other, writes, work_writes);
  finding.address = address;
  finding.allocation = "byte " + std::to_string(address - allocation->begin) + " of " +
                       std::to_string(allocation->bytes) + " bytes, made by " + allocation->made_by;
  here.findings->add(std::move(finding));
}

void release(Watch& here, std::uint64_t page) {
  protect(page, PROT_READ | PROT_WRITE);
  here.released.insert(page);
}

/// Called by the handler of SIGSEGV. Returns whether the access may be tried again.
bool on_fault(std::uint64_t address, bool writes) {
  // If another thread has released the page between the fault and this call, the access
  // succeeds when it is tried again. Memory that was freed faults again at once.
  static thread_local std::uint64_t tried_again = 0;
  if (holds_watch) return false;
  Watch& here = watch();
  const Hold hold(here);
  const auto found = here.pages.find(page_of(address));
  if (found == here.pages.end()) {
    const bool first_time = std::exchange(tried_again, address) != address;
    return first_time && here.released.count(page_of(address)) != 0;
  }
  tried_again = 0;
  release(here, *found);
  here.pages.erase(found);
  if (is_watching) check_access(here, address, writes);
  return true;
}

}  // namespace

void watch_host_accesses(const Allocations& memory, FindingLog& findings,
                         const OperationOrder& order, const std::function<OperationId()>& host) {
  end_host_watch();
  const std::vector<Allocation> live = memory.shared_with_host(kMostAllocations);
  if (live.empty()) return;
  Watch& here = watch();
  const Hold hold(here);
  if (pauses > 0) return;  // work that begins now waits for the mutex
  here.memory = &memory;
  here.findings = &findings;
  here.order = &order;
  here.host = host();
  here.communicates.clear();
  if (!set_fault_handler(on_fault)) return;
  std::set<std::uint64_t> touched, others;
  GlobalShadow& shadow = GlobalShadow::of(*here.memory);
  for (const Allocation& one : live) {
    if (one.bytes == 0) continue;
    const std::uint64_t last = std::min(one.end(), page_of(one.begin) + kMostPages * kPage);
    for (std::uint64_t at = one.begin; at < last; at = page_of(at) + kPage) {
      ShadowPage& page = shadow.page(at / kPage);
      const bool all = all_touched(here, page, at, std::min(page_of(at) + kPage, one.end()));
      (all ? touched : others).insert(page_of(at));
    }
    // Its last pages, which were not looked at, may be those of another allocation, too.
    if (last < one.end()) others.insert(page_of(one.end() - 1));
  }
  for (const std::uint64_t page : touched) {
    if (others.count(page) != 0) continue;
    protect(page, PROT_NONE);
    here.pages.insert(page);
  }
  is_watching = !here.pages.empty();
}

void end_host_watch() {
  Watch& here = watch();
  const Hold hold(here);
  is_watching = false;
  for (const std::uint64_t page : here.pages) release(here, page);
  here.pages.clear();
}

HostWatchPause::HostWatchPause() {
  ++pauses;
  end_host_watch();
}
HostWatchPause::~HostWatchPause() { --pauses; }

}  // namespace halfgrad::emulator
