#include <halfgrad/emulator/runtime/streams/graph_exec.h>

#include <mutex>
#include <string>
#include <utility>

#include <halfgrad/emulator/runtime/launches.h>
#include <halfgrad/emulator/runtime/process.h>
#include <halfgrad/emulator/runtime/streams/api.h>
#include <halfgrad/emulator/runtime/streams/conditional.h>
#include <halfgrad/emulator/runtime/streams/event.h>

namespace halfgrad::emulator {
namespace {

HandleTable<cudaGraphExec_t, GraphExec>& execs() {
  static auto& table = *new HandleTable<cudaGraphExec_t, GraphExec>(0x5e4000000000);
  return table;
}

bool has_cycle(const Graph& graph) {
  if (topological_order(graph).size() != graph.nodes.size()) return true;
  for (const GraphNode* node : graph.nodes) {
    if (node->child != nullptr && has_cycle(*node->child)) return true;
    if (node->conditional == nullptr) continue;
    for (const Graph* body : node->conditional->bodies) {
      if (has_cycle(*body)) return true;
    }
  }
  return false;
}

/// Position of a step of this launch, and the clock of all that comes before it outside its chain.
struct Place {
  Position position;
  SharedClock before;
};

void begin_conditions(const Graph& graph) {
  for (const GraphNode* node : graph.nodes) {
    if (node->child != nullptr) begin_conditions(*node->child);
    if (node->conditional == nullptr) continue;
    begin_condition(node->conditional->handle);
    for (const Graph* body : node->conditional->bodies) begin_conditions(*body);
  }
}

/// Unlocks a mutex for the life of the object.
class Unlocked {
 public:
  explicit Unlocked(std::mutex& mutex) : mutex_(mutex) { mutex_.unlock(); }
  ~Unlocked() { mutex_.lock(); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  std::mutex& mutex_;
};

/// One launch of a graph, with the places of the steps so far.
class Launcher {
 public:
  Launcher(StreamState& state, Stream& stream, SharedClock start)
      : state_(state),
        stream_(stream),
        start_(std::move(start)),
        start_elsewhere_(reached(start_, stream.last)) {}

  void run(const LaunchPlan& plan) {
    while (stream_.branches.size() + 1 < plan.branches) {
      stream_.branches.push_back(state_.scheduler.make_chain());
    }
    places_.reserve(plan.steps.size());
    for (const LaunchPlan::Step& step : plan.steps) add(step);
  }

  Clock after(const LaunchPlan& plan) const {
    Clock result = *start_elsewhere_;
    for (const std::uint32_t step : plan.last) {
      result.join(*places_[step].before);
      result.reach(places_[step].position);
    }
    return result;
  }

 private:
  void add(const LaunchPlan::Step& step) {
    const bool on_stream = step.branch == 0;
    const ChainId chain = on_stream ? stream_.chain : stream_.branches[step.branch - 1];
    SharedClock before;
    if (step.dependencies.empty()) before = on_stream ? start_ : start_elsewhere_;
    for (const std::uint32_t d : step.dependencies) {
      const Place& place = places_[d];
      before = before == nullptr ? place.before : joined(before, *place.before);
      if (place.position.chain != chain) before = reached(before, place.position);
    }
    Place place = give(*step.node, chain, std::move(before));
    if (step.node->conditional != nullptr) place = run_conditional(*step.node, chain, place);
    places_.push_back(std::move(place));
    if (on_stream) stream_.last = places_.back().position;
  }

  /// The host decides which body runs, so it waits for all that comes before the node. A GPU may
  /// run the bodies' nodes beside each other; here they run one after the other.
  Place run_conditional(const GraphNode& node, ChainId chain, Place place) {
    const Conditional& conditional = *node.conditional;
    do {
      {
        Clock target = *place.before;
        target.reach(place.position);
        const Unlocked unlocked(state_.mutex);
        state_.scheduler.run_until(target);
      }
      const Graph* const body = conditional.body_for(condition(conditional.handle));
      if (body == nullptr || sticky_error() != cudaSuccess) break;
      place = run_in_order(*body, chain, std::move(place));
    } while (conditional.type == cudaGraphCondTypeWhile);
    return place;
  }

  Place run_in_order(const Graph& graph, ChainId chain, Place place) {
    for (const GraphNode* node : topological_order(graph)) {
      if (node->child != nullptr) {
        place = run_in_order(*node->child, chain, std::move(place));
        continue;
      }
      place = give(*node, chain, place.before);
      if (node->conditional != nullptr) place = run_conditional(*node, chain, std::move(place));
    }
    return place;
  }

  Place give(const GraphNode& node, ChainId chain, SharedClock before) {
    Task task;
    std::string name;
    std::shared_ptr<EventRecord> record;
    Event* const event = node.event == nullptr ? nullptr : state_.events.find(node.event);
    if (node.work != nullptr && node.enabled) {
      task = task_of(node.work, before);
      name = node.work->name + " of a graph on " + stream_.name();
      if (const auto& kept = node.graph->user_objects; !kept.empty()) {
        task.run = [kept, run = std::move(task.run)](OperationId operation) { run(operation); };
      }
    } else if (event != nullptr && node.type == cudaGraphNodeTypeEventRecord) {
      record = std::make_shared<EventRecord>();
      task = record_task(record);
    } else if (event != nullptr && event->record != nullptr) {
      before = joined(before, event->record->complete_when);
    }
    task.before = before;
    const Position position = state_.add_operation(chain, std::move(task), name);
    if (record != nullptr) {
      record->complete_when = *before;
      record->complete_when.reach(position);
      event->record = std::move(record);
      event->is_captured = false;
    }
    return {position, std::move(before)};
  }

  StreamState& state_;
  Stream& stream_;
  SharedClock start_, start_elsewhere_;
  std::vector<Place> places_;
};

}  // namespace

GraphExec* find_exec(cudaGraphExec_t handle) { return execs().find(handle); }

GraphExec* instantiate(const Graph& graph, unsigned long long flags) {
  if (has_cycle(graph)) return nullptr;
  auto made = std::make_unique<GraphExec>();
  GraphExec& exec = *made;
  exec.flags = flags;
  exec.graph = &graph_table().clone(graph);
  exec.graph->is_executable = true;
  exec.plan = plan_launch(*exec.graph);
  exec.handle = execs().add(std::move(made));
  return &exec;
}

void destroy_exec(GraphExec& exec) {
  graph_table().destroy(*exec.graph);
  execs().take(exec.handle);
}

cudaError_t launch(StreamState& state, GraphExec& exec, Stream& stream) {
  state.begin_operation(stream);
  stream.after = joined(stream.after, exec.last_launch);
  begin_conditions(*exec.graph);
  Launcher launcher(state, stream, stream.after);
  launcher.run(exec.plan);
  exec.last_launch = launcher.after(exec.plan);
  stream.after = joined(stream.after, exec.last_launch);
  *stream.polls = 0;
  launch_log().add(CallRecord{"graph",
                              "cudaGraphLaunch",
                              std::to_string(exec.plan.work) + " nodes, longest chain of " +
                                  std::to_string(exec.plan.longest_chain),
                              {}});
  return cudaSuccess;
}

}  // namespace halfgrad::emulator
