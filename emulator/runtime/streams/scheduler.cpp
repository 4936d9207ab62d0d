#include <halfgrad/emulator/runtime/streams/scheduler.h>

#include <algorithm>
#include <utility>

#include <halfgrad/emulator/checks/host_watch.h>

namespace halfgrad::emulator {
namespace {

thread_local OperationId running_here = 0;
thread_local bool host_function_here = false;

}  // namespace

OperationId Scheduler::running_operation() { return running_here; }
bool Scheduler::in_host_function() { return host_function_here; }

Scheduler::Scheduler(Options options) : options_(options), random_(options_.seed) {}

Scheduler::~Scheduler() {
  {
    const Lock lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  if (idle_thread_.joinable()) idle_thread_.join();
}

ChainId Scheduler::make_chain() {
  const Lock lock(mutex_);
  auto chain = std::make_unique<Chain>();
  chain->id = ++last_chain_;
  chains_.emplace(chain->id, std::move(chain));
  return last_chain_;
}

void Scheduler::close_chain(ChainId id) {
  const Lock lock(mutex_);
  const auto found = chains_.find(id);
  if (found == chains_.end()) return;
  Chain& chain = *found->second;
  chain.closed = true;
  if (chain.queue.empty() && chain.running == 0) chains_.erase(found);
}

Position Scheduler::next_position(ChainId id) {
  const Lock lock(mutex_);
  return {id, chains_.at(id)->issued + 1};
}

Position Scheduler::add(ChainId id, Task task) {
  const Lock lock(mutex_);
  ++calls_;
  Chain& chain = *chains_.at(id);
  if (chain.queue.empty() && chain.running == 0) pending_.push_back(&chain);
  pending_host_functions_ += task.is_host_function ? 1 : 0;
  const Position position{id, ++chain.issued};
  if (task.meeting != nullptr) {
    task.meeting->given(task.operation, position);
    changed_.notify_all();  // a thread may wait for this partner
  }
  chain.queue.push_back(std::move(task));
  if (options_.lazy && !idle_thread_.joinable()) start_idle_thread();
  return position;
}

void Scheduler::run_eagerly() {
  if (options_.lazy) return;
  Lock lock(mutex_);
  run_pending(lock);
}

void Scheduler::run_pending(Lock& lock) {
  while (Chain* chain = pick(nullptr, true)) run_first(lock, *chain);
}

void Scheduler::run_until(const Clock& target) { run(target, true); }
bool Scheduler::try_run(const Clock& target) { return run(target, false); }

bool Scheduler::run(const Clock& target, bool waits) {
  Lock lock(mutex_);
  ++calls_;
  if (is_complete(target)) return true;
  // A GPU may also run work that nobody waits for yet: one wait in four of a seeded run does.
  const bool others_too = !options_.lazy || (options_.seed != 0 && random_() % 4 == 0);
  Needs needs = needs_of(target);
  while (!is_complete(target)) {
    if (Chain* chain = pick(&needs, others_too)) {
      run_first(lock, *chain);
      continue;
    }
    if (!waits && !device_is_busy_ && !waiting_meetings().empty()) return false;
    wait(lock);
    needs = needs_of(target);  // a partner may have come
  }
  return true;
}

void Scheduler::run_all() {
  Lock lock(mutex_);
  while (!pending_.empty()) {
    run_pending(lock);
    if (!pending_.empty()) wait(lock);
  }
}

void Scheduler::run_released() {
  Lock lock(mutex_);
  ++calls_;
  changed_.notify_all();
  if (!options_.lazy) run_pending(lock);
}

void Scheduler::expect_no_more() {
  const Lock lock(mutex_);
  options_.patience = {};
}

/// The meetings whose task is the first of its chain and has begun, but lacks a partner.
std::vector<Meeting*> Scheduler::waiting_meetings() const {
  std::vector<Meeting*> waiting;
  for (const Chain* chain : pending_) {
    if (chain->running != 0 || chain->queue.empty()) continue;
    const Task& task = chain->queue.front();
    if (task.meeting == nullptr) continue;
    if (task.before != nullptr && !is_complete(*task.before)) continue;
    if (!task.meeting->begin()) waiting.push_back(task.meeting.get());
  }
  return waiting;
}

/// Waits until another thread has run a task or given one that tasks wait for. If the program does
/// nothing for long, tasks that lack a partner give up.
void Scheduler::wait(Lock& lock) {
  if (device_is_busy_ || pending_host_functions_ != 0 || waiting_meetings().empty()) {
    changed_.wait(lock);
    return;
  }
  const std::uint64_t seen = calls_;
  if (changed_.wait_for(lock, options_.patience) == std::cv_status::no_timeout) return;
  if (calls_ != seen || device_is_busy_) return;
  for (Meeting* meeting : waiting_meetings()) meeting->give_up();
}

bool Scheduler::complete(const Clock& target) {
  const Lock lock(mutex_);
  ++calls_;
  return is_complete(target);
}

OperationId Scheduler::oldest_pending() {
  const Lock lock(mutex_);
  OperationId oldest = 0;
  for (const Chain* chain : pending_) {
    const OperationId first = chain->running != 0 ? chain->running : chain->queue.front().operation;
    if (oldest == 0 || first < oldest) oldest = first;
  }
  return oldest;
}

bool Scheduler::is_complete(const Clock& clock) const {
  return std::all_of(clock.positions().begin(), clock.positions().end(), [&](Position position) {
    const auto chain = chains_.find(position.chain);  // a chain that is gone has run everything
    return chain == chains_.end() || chain->second->completed >= position.index;
  });
}

bool Scheduler::is_ready(const Chain& chain) const {
  if (chain.running != 0 || chain.queue.empty()) return false;
  const Task& task = chain.queue.front();
  if (device_is_busy_ && !task.is_host_function) return false;
  if (task.before != nullptr && !is_complete(*task.before)) return false;
  return task.meeting == nullptr || task.meeting->begin();
}

/// How many tasks of each chain the target needs, with all that those tasks come after.
Scheduler::Needs Scheduler::needs_of(const Clock& target) const {
  Needs needs;
  std::vector<Position> open = target.positions();
  while (!open.empty()) {
    const Position position = open.back();
    open.pop_back();
    const auto found = chains_.find(position.chain);
    if (found == chains_.end()) continue;
    const Chain& chain = *found->second;
    std::uint32_t& need = needs[position.chain];
    const std::uint32_t waiting_from =
        chain.issued - static_cast<std::uint32_t>(chain.queue.size());
    for (std::uint32_t i = std::max(need, waiting_from); i < position.index; ++i) {
      const Task& task = chain.queue[i - waiting_from];
      std::vector<Position> others;
      if (task.before != nullptr) others = task.before->positions();
      if (task.meeting != nullptr) task.meeting->add_partners(others);
      for (const Position& other : others) {
        const auto known = needs.find(other.chain);
        if (known == needs.end() || known->second < other.index) open.push_back(other);
      }
    }
    need = std::max(need, position.index);
  }
  return needs;
}

/// The chain whose first task runs next, or nullptr if none is ready: the oldest task, or any of
/// the ready ones if a seed is set. With `needs`, chains that are not needed count only if
/// `others_too`.
Scheduler::Chain* Scheduler::pick(const Needs* needs, bool others_too) {
  const bool at_random = options_.lazy && options_.seed != 0;
  Chain* picked = nullptr;
  std::uint64_t candidates = 0;
  for (Chain* chain : pending_) {
    if (needs != nullptr && !others_too) {
      const auto need = needs->find(chain->id);
      if (need == needs->end() || chain->completed >= need->second) continue;
    }
    if (!is_ready(*chain)) continue;
    ++candidates;
    if (picked == nullptr ||
        (at_random ? random_() % candidates == 0
                   : chain->queue.front().operation < picked->queue.front().operation)) {
      picked = chain;
    }
  }
  return picked;
}

void Scheduler::run_first(Lock& lock, Chain& chain) {
  {
    Task task = std::move(chain.queue.front());
    chain.queue.pop_front();
    chain.running = task.operation;
    device_is_busy_ = device_is_busy_ || !task.is_host_function;
    lock.unlock();
    const OperationId outer = std::exchange(running_here, task.operation);
    const bool outer_host = std::exchange(host_function_here, task.is_host_function);
    {
      const HostWatchPause pause;
      if (task.run) task.run(task.operation);
    }
    running_here = outer;
    host_function_here = outer_host;
    const bool was_host_function = task.is_host_function;
    task = {};  // its captures may end here, outside the lock
    lock.lock();
    if (was_host_function) {
      --pending_host_functions_;
    } else {
      device_is_busy_ = false;
    }
  }
  chain.running = 0;
  ++chain.completed;
  if (chain.queue.empty()) {
    std::erase(pending_, &chain);
    if (chain.closed) chains_.erase(chain.id);
  }
  changed_.notify_all();
}

void Scheduler::start_idle_thread() {
  idle_thread_ = std::thread([this] { run_when_idle(); });
}

void Scheduler::run_when_idle() {
  using namespace std::chrono_literals;
  using Time = std::chrono::steady_clock;
  constexpr auto kTick = 50ms, kPatienceWithHostFunction = 200ms, kPatience = 3000ms;
  Lock lock(mutex_);
  std::uint64_t seen = calls_;
  auto idle_since = Time::now();
  while (!stops_) {
    changed_.wait_for(lock, kTick);
    if (calls_ != seen || pending_.empty() || device_is_busy_) {
      seen = calls_;
      idle_since = Time::now();
      continue;
    }
    const auto patience = pending_host_functions_ != 0 ? kPatienceWithHostFunction : kPatience;
    if (Time::now() - idle_since >= patience) run_pending(lock);
  }
}

}  // namespace halfgrad::emulator
