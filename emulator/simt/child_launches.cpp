// CUDA C++ Programming Guide, "CUDA Dynamic Parallelism", second version: a grid that a thread
// launches sees what the thread saw, and the parent sees nothing of it.
#include <halfgrad/emulator/simt/child_launches.h>

#include <algorithm>
#include <exception>
#include <utility>

#include <halfgrad/emulator/simt/device_api.h>

namespace halfgrad::emulator {
namespace {

/// Runs the tree of grids below one launch by the host.
class LaunchTree {
 public:
  LaunchTree(const Machine& machine, const LaunchRequest& root)
      : machine_(machine), root_(root), family_(machine.memory, machine.device) {
    const Settings& settings = machine.settings;
    if (settings.check_race || settings.check_init || settings.check_sync) {
      checks_ = std::make_shared<LaunchChecks>(machine, root.operation, root.order);
    }
  }
  ~LaunchTree() { family_.heap.release(); }
  LaunchTree(const LaunchTree&) = delete;
  LaunchTree& operator=(const LaunchTree&) = delete;

  LaunchCounters run(std::exception_ptr* failure) {
    try {
      run_tree(root_, nullptr, 0);
    } catch (...) {
      if (failure == nullptr || !has_root_) throw;
      *failure = std::current_exception();
    }
    return std::move(counters_);
  }

 private:
  /// Runs a grid, its children, then its tail launches, of which each may have its own. Returns all
  /// accesses until then.
  KnownAccesses run_tree(const LaunchRequest& request, const KnownAccesses& known, unsigned depth) {
    std::deque<DeviceWork> tail;
    KnownAccesses done = run_grid(request, known, depth, tail);
    while (!tail.empty()) {
      const DeviceWork work = std::move(tail.front());
      tail.pop_front();
      std::deque<DeviceWork> next;
      done = run_grid(request_of(work), join(done, work.known), depth, next);
      tail.insert(tail.begin(), std::make_move_iterator(next.begin()),
                  std::make_move_iterator(next.end()));
    }
    return done;
  }

  KnownAccesses run_grid(const LaunchRequest& request, const KnownAccesses& known, unsigned depth,
                         std::deque<DeviceWork>& tail) {
    ChildLaunches children(family_, depth);
    Launch launch{machine_, request};
    launch.checks = checks_;
    launch.known = known;
    launch.children = &children;
    if (checks_ != nullptr) checks_->add_grid(launch);
    std::exception_ptr failure;
    LaunchCounters counters = run_one_grid(launch, failure);
    if (!has_root_) {
      counters_ = std::move(counters);
      has_root_ = true;
    } else if (machine_.device_api != nullptr) {
      machine_.device_api->launched(request, counters);
    }
    if (failure != nullptr) std::rethrow_exception(failure);
    const std::deque<DeviceWork> work = children.take(tail);
    KnownAccesses done = run_children(work, depth);
    const bool needed = checks_ != nullptr && (depth != 0 || !tail.empty());
    return needed ? checks_->accesses_of(launch, join(done, known)) : nullptr;
  }

  /// Work of one stream runs in its order; each piece is ordered after the one before.
  KnownAccesses run_children(const std::deque<DeviceWork>& work, unsigned depth) {
    std::map<DeviceStream, KnownAccesses> streams;
    std::map<std::uint64_t, KnownAccesses> events;
    KnownAccesses all;
    for (const DeviceWork& one : work) {
      if (one.kind == DeviceWork::Kind::grid && is_unordered(one)) {
        all = join(all, run_tree(request_of(one), one.known, depth + 1));
        continue;
      }
      KnownAccesses& before = streams[one.stream];
      switch (one.kind) {
        case DeviceWork::Kind::grid:
          before = run_tree(request_of(one), join(before, one.known), depth + 1);
          all = join(all, before);
          break;
        case DeviceWork::Kind::record:
          events[one.event] = before;
          break;
        case DeviceWork::Kind::wait:
          before = join(before, events[one.event]);
          break;
      }
    }
    return all;
  }

  static bool is_unordered(const DeviceWork& work) {
    return work.stream.handle == DeviceStream::kFireAndForget;
  }

  LaunchRequest request_of(const DeviceWork& work) const {
    LaunchRequest request{*work.module, *work.kernel, work.grid_size, work.block_size};
    request.dynamic_shared_bytes = work.dynamic_shared_bytes;
    request.parameters = work.parameters.data();
    request.operation = root_.operation;
    request.order = root_.order;
    const auto& cluster = work.kernel->required_cluster;
    if (cluster[0] != 0) request.cluster = {cluster[0], cluster[1], cluster[2]};
    return request;
  }

  KnownAccesses join(const KnownAccesses& a, const KnownAccesses& b) const {
    return LaunchChecks::join(a, b);
  }

  const Machine& machine_;
  const LaunchRequest& root_;
  LaunchFamily family_;
  std::shared_ptr<LaunchChecks> checks_;
  LaunchCounters counters_;
  bool has_root_ = false;
};

}  // namespace

std::deque<DeviceWork> ChildLaunches::take(std::deque<DeviceWork>& tail) {
  // Host threads run blocks in any order. The order of the blocks makes runs alike, unless a stream
  // of several blocks has an order of its own.
  if (!shares_streams) {
    std::stable_sort(work.begin(), work.end(),
                     [](const DeviceWork& a, const DeviceWork& b) { return a.block < b.block; });
  }
  std::deque<DeviceWork> rest;
  for (DeviceWork& one : work) {
    (one.stream.handle == DeviceStream::kTail ? tail : rest).push_back(std::move(one));
  }
  work.clear();
  return rest;
}

LaunchCounters run_with_children(const Machine& machine, const LaunchRequest& request,
                                 std::exception_ptr* failure) {
  return LaunchTree(machine, request).run(failure);
}

}  // namespace halfgrad::emulator
