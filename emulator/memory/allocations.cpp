#include <halfgrad/emulator/memory/allocations.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include <halfgrad/emulator/memory/arena.h>
#include <halfgrad/emulator/memory/host_guard.h>
#include <halfgrad/emulator/settings.h>

namespace halfgrad::emulator {
namespace {

constexpr std::size_t kReserved = std::size_t{64} << 30;  // addresses of a device
constexpr std::size_t kRememberedFrees = 65536;
constexpr std::uint64_t kNear = std::uint64_t{1} << 20;  // an allocation this close is named

/// Unique in the process, so a cache of one Allocations is never valid for another.
std::uint64_t next_generation() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

struct GuardedArena {
  GuardedArena(bool guarded, const Allocations& owner) : arena(kReserved, guarded) {
    if (guarded) guard.emplace(arena, owner);
  }
  Arena arena;
  std::optional<HostGuard> guard;
};

std::string bytes_text(std::uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string name_of(const Allocation& allocation) {
  std::string text = "an allocation of " + bytes_text(allocation.bytes);
  if (!allocation.made_by.empty()) text += " made by " + allocation.made_by;
  return text;
}

using ByAddress = std::map<std::uint64_t, Allocation>;

/// The element that begins last at or before the address, or end().
ByAddress::const_iterator at_or_before(const ByAddress& map, std::uint64_t address) {
  const auto after = map.upper_bound(address);
  return after == map.begin() ? map.end() : std::prev(after);
}

}  // namespace

struct Allocations::State {
  mutable std::shared_mutex mutex;
  ByAddress live, freed;
  std::deque<std::uint64_t> free_order;  ///< keys of `freed`, oldest first
  std::map<int, std::unique_ptr<GuardedArena>> devices;
  std::unique_ptr<GuardedArena> pinned;
  std::map<int, std::size_t> in_use;
  std::uint64_t last_serial = 0;
  std::atomic<std::uint64_t> generation{next_generation()};

  static bool guarded(MemoryKind kind) {
    return kind == MemoryKind::device || kind == MemoryKind::variable;
  }
  Arena& arena(MemoryKind kind, int device, const Allocations& owner) {
    auto& place = guarded(kind) ? devices[device] : pinned;
    if (place == nullptr) place = std::make_unique<GuardedArena>(guarded(kind), owner);
    return place->arena;
  }
  void forget_freed(std::uint64_t begin, std::uint64_t end);
  void remember_freed(ByAddress::node_type node);
};

void Allocations::State::forget_freed(std::uint64_t begin, std::uint64_t end) {
  auto last = freed.lower_bound(end);
  while (last != freed.begin() && std::prev(last)->second.end() > begin) {
    last = freed.erase(std::prev(last));
  }
}

void Allocations::State::remember_freed(ByAddress::node_type node) {
  free_order.push_back(node.key());
  freed.insert(std::move(node));
  if (free_order.size() <= kRememberedFrees) return;
  freed.erase(free_order.front());
  free_order.pop_front();
}

Allocations::Allocations() : state_(std::make_unique<State>()) {}
Allocations::~Allocations() = default;

const Allocation* Allocations::allocate(MemoryKind kind, int device, std::size_t bytes,
                                        std::size_t alignment, std::string made_by, PoolId pool) {
  State& state = *state_;
  const std::unique_lock lock(state.mutex);
  const bool of_device = State::guarded(kind);
  std::size_t& in_use = state.in_use[device];
  if (of_device && (bytes > settings().memory || in_use > settings().memory - bytes)) {
    return nullptr;
  }
  Arena& arena = state.arena(kind, device, *this);
  const std::uint64_t begin = arena.take(bytes, alignment);
  if (begin == 0) return nullptr;
  state.forget_freed(begin, begin + bytes);

  Allocation allocation{begin,
                        bytes,
                        kind,
                        device,
                        arena.host(begin),
                        nullptr,
                        ++state.last_serial,
                        std::move(made_by),
                        pool};
  if (of_device && settings().check_init) allocation.written = arena.shadow(begin);
  if (kind == MemoryKind::variable) {  // C++ gives variables without an initialiser the value 0
    std::memset(allocation.host, 0, bytes);
    if (allocation.written != nullptr) std::memset(allocation.written, 1, bytes);
  }
  if (of_device) in_use += bytes;
  return &state.live.emplace(begin, std::move(allocation)).first->second;
}

const Allocation* Allocations::add_host(void* address, std::size_t bytes, std::string made_by) {
  State& state = *state_;
  const std::unique_lock lock(state.mutex);
  const auto begin = reinterpret_cast<std::uint64_t>(address);
  state.forget_freed(begin, begin + bytes);
  Allocation allocation{begin,
                        bytes,
                        MemoryKind::pinned,
                        -1,
                        static_cast<std::byte*>(address),
                        nullptr,
                        ++state.last_serial,
                        std::move(made_by),
                        kNoPool};
  return &state.live.insert_or_assign(begin, std::move(allocation)).first->second;
}

void Allocations::free(std::uint64_t address) {
  State& state = *state_;
  const std::unique_lock lock(state.mutex);
  auto node = state.live.extract(address);
  if (node.empty()) return;
  const Allocation& allocation = node.mapped();
  const bool registered = allocation.device < 0;
  if (State::guarded(allocation.kind)) state.in_use[allocation.device] -= allocation.bytes;
  if (!registered) {
    state.arena(allocation.kind, allocation.device, *this)
        .give_back(allocation.begin, allocation.bytes);
  }
  state.generation = next_generation();
  if (!registered) state.remember_freed(std::move(node));
}

const Allocation* Allocations::find(std::uint64_t address, std::size_t bytes) const {
  const std::shared_lock lock(state_->mutex);
  const auto found = at_or_before(state_->live, address);
  if (found == state_->live.end()) return nullptr;
  const Allocation& allocation = found->second;
  const std::uint64_t offset = address - allocation.begin;
  const bool inside = offset <= allocation.bytes && bytes <= allocation.bytes - offset;
  return inside ? &allocation : nullptr;
}

bool Allocations::was_freed(std::uint64_t address) const {
  const std::shared_lock lock(state_->mutex);
  const auto live = at_or_before(state_->live, address);
  if (live != state_->live.end() && address < live->second.end()) return false;
  const auto found = at_or_before(state_->freed, address);
  return found != state_->freed.end() && address < found->second.end();
}

std::string Allocations::describe_neighbour(std::uint64_t address) const {
  const std::shared_lock lock(state_->mutex);
  const ByAddress& live = state_->live;
  const auto before = at_or_before(live, address);
  if (before != live.end() && address < before->second.end()) {
    return "at byte " + std::to_string(address - before->second.begin) + " of " +
           name_of(before->second);
  }
  const auto freed = at_or_before(state_->freed, address);
  if (freed != state_->freed.end() && address < freed->second.end()) {
    return "at byte " + std::to_string(address - freed->second.begin) + " of " +
           name_of(freed->second) + ", which was freed";
  }
  const auto after = live.upper_bound(address);
  const std::uint64_t past = before == live.end() ? kNear : address - before->second.end();
  const std::uint64_t short_of = after == live.end() ? kNear : after->second.begin - address;
  if (std::min(past, short_of) >= kNear) return "";
  if (past <= short_of) {
    return past == 0 ? "right after the end of " + name_of(before->second)
                     : bytes_text(past) + " after the end of " + name_of(before->second);
  }
  return bytes_text(short_of) + " before " + name_of(after->second);
}

std::uint64_t Allocations::generation() const { return state_->generation; }

std::size_t Allocations::bytes_in_use(int device) const {
  const std::shared_lock lock(state_->mutex);
  const auto found = state_->in_use.find(device);
  return found == state_->in_use.end() ? 0 : found->second;
}

std::vector<Allocation> Allocations::live() const {
  const std::shared_lock lock(state_->mutex);
  std::vector<Allocation> all;
  all.reserve(state_->live.size());
  for (const auto& [begin, allocation] : state_->live) all.push_back(allocation);
  return all;
}

std::vector<Allocation> Allocations::shared_with_host(std::size_t most) const {
  const std::shared_lock lock(state_->mutex);
  if (state_->pinned == nullptr) return {};
  const Arena& arena = state_->pinned->arena;
  std::vector<Allocation> all;
  for (auto one = state_->live.lower_bound(arena.begin()); one != state_->live.end(); ++one) {
    if (one->first >= arena.end()) break;
    if (all.size() == most) return {};
    all.push_back(one->second);
  }
  return all;
}

}  // namespace halfgrad::emulator
