#include <halfgrad/emulator/runtime/streams/conditional.h>

#include <map>
#include <mutex>

#include <halfgrad/emulator/runtime/streams/graph_api.h>

namespace halfgrad::emulator {
namespace {

struct Condition {
  cudaGraph_t graph = nullptr;
  std::uint32_t initial = 0, value = 0;
  bool begins_anew = false;  ///< cudaGraphCondAssignDefault
};

/// All conditions of the process. Kernels set them, so they have a lock of their own. A condition
/// is never removed: a clone of its graph may outlive the graph.
struct Conditions {
  std::mutex mutex;
  std::map<std::uint64_t, Condition> all;
  std::uint64_t next = 0x5e9000000000;
};
Conditions& conditions() {
  static auto& one = *new Conditions;
  return one;
}

}  // namespace

Graph* Conditional::body_for(std::uint32_t value) const {
  std::size_t index = value;
  if (type != cudaGraphCondTypeSwitch) index = value != 0 ? 0 : 1;
  return index < bodies.size() ? bodies[index] : nullptr;
}

cudaError_t make_conditional(cudaConditionalNodeParams& parameters, cudaGraph_t graph,
                             std::shared_ptr<Conditional>& made) {
  const bool is_switch = parameters.type == cudaGraphCondTypeSwitch;
  const unsigned most = parameters.type == cudaGraphCondTypeIf ? 2 : 1;
  if (parameters.size == 0 || (!is_switch && parameters.size > most)) return cudaErrorInvalidValue;
  {
    const std::lock_guard lock(conditions().mutex);
    const auto found = conditions().all.find(parameters.handle);
    if (found == conditions().all.end() || found->second.graph != graph) {
      return cudaErrorInvalidValue;
    }
  }
  made = std::make_shared<Conditional>();
  made->handle = parameters.handle;
  made->type = parameters.type;
  const std::lock_guard lock(stream_state().mutex);
  for (unsigned i = 0; i < parameters.size; ++i) {
    made->bodies.push_back(&graph_table().make_graph());
    made->body_handles.push_back(made->bodies.back()->handle);
  }
  parameters.phGraph_out = made->body_handles.data();
  return cudaSuccess;
}

std::shared_ptr<Conditional> clone(const Conditional& conditional) {
  auto copy = std::make_shared<Conditional>(conditional);
  for (std::size_t i = 0; i < copy->bodies.size(); ++i) {
    copy->bodies[i] = &graph_table().clone(*conditional.bodies[i]);
    copy->body_handles[i] = copy->bodies[i]->handle;
  }
  return copy;
}

void destroy_bodies(const Conditional& conditional) {
  for (Graph* const body : conditional.bodies) graph_table().destroy(*body);
}

std::uint32_t condition(cudaGraphConditionalHandle handle) {
  const std::lock_guard lock(conditions().mutex);
  const auto found = conditions().all.find(handle);
  return found == conditions().all.end() ? 0 : found->second.value;
}

void begin_condition(cudaGraphConditionalHandle handle) {
  const std::lock_guard lock(conditions().mutex);
  const auto found = conditions().all.find(handle);
  if (found == conditions().all.end() || !found->second.begins_anew) return;
  found->second.value = found->second.initial;
}

bool set_condition(std::uint64_t handle, std::uint32_t value) {
  const std::lock_guard lock(conditions().mutex);
  const auto found = conditions().all.find(handle);
  if (found == conditions().all.end()) return false;
  found->second.value = value;
  return true;
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* out,
                                                                   cudaGraph_t graph_handle,
                                                                   unsigned initial,
                                                                   unsigned flags) {
  return with_graph("cudaGraphConditionalHandleCreate", graph_handle, [&](Graph& graph) {
    if (out == nullptr || (flags & ~unsigned{cudaGraphCondAssignDefault}) != 0) {
      return cudaErrorInvalidValue;
    }
    const std::lock_guard lock(conditions().mutex);
    *out = conditions().next;
    conditions().next += 64;
    const bool begins_anew = (flags & cudaGraphCondAssignDefault) != 0;
    conditions().all[*out] = {graph.handle, initial, initial, begins_anew};
    return cudaSuccess;
  });
}

}  // namespace halfgrad::emulator
