#include <halfgrad/emulator/runtime/streams/user_objects.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <halfgrad/emulator/runtime/streams/graph_api.h>

namespace halfgrad::emulator {
namespace {

using References = std::vector<std::shared_ptr<UserObject>>;

/// The program's references of each object. Used with StreamState::mutex held.
struct UserObjects {
  struct Entry {
    std::weak_ptr<UserObject> object;
    References program;
  };
  std::map<cudaUserObject_t, Entry> all;
  std::uintptr_t next = 0x5ea000000000;
};
UserObjects& user_objects() {
  static auto& one = *new UserObjects;
  return one;
}

/// Calls the body with the object and the program's references. What `dropped` gets is destroyed
/// after the lock has ended.
template <class Body>
cudaError_t with_object(const char* function, cudaUserObject_t handle, Body body) {
  References dropped;
  return locked_call(function, [&](StreamState&) {
    const auto found = user_objects().all.find(handle);
    const auto object = found == user_objects().all.end() ? nullptr : found->second.object.lock();
    if (object == nullptr) {
      report_call(FindingKind::invalid_call, function, "the handle is not a live user object's");
      return cudaErrorInvalidValue;
    }
    const cudaError_t error = body(object, found->second.program, dropped);
    dropped.push_back(object);
    return error;
  });
}

/// Moves `count` references from one list to another.
cudaError_t move_references(const std::shared_ptr<UserObject>& object, References& from,
                            unsigned count, References& to) {
  const auto owned = std::count(from.begin(), from.end(), object);
  if (count == 0 || static_cast<std::ptrdiff_t>(count) > owned) return cudaErrorInvalidValue;
  to.insert(to.end(), count, object);
  for (unsigned i = 0; i < count; ++i) from.erase(std::find(from.begin(), from.end(), object));
  return cudaSuccess;
}

}  // namespace

HALFGRAD_EMULATOR_API cudaError_t cudaUserObjectCreate(cudaUserObject_t* out, void* object,
                                                       cudaHostFn_t destroy, unsigned references,
                                                       unsigned flags) {
  return locked_call("cudaUserObjectCreate", [&](StreamState&) {
    if (out == nullptr || destroy == nullptr || references == 0 ||
        flags != cudaUserObjectNoDestructorSync) {
      return cudaErrorInvalidValue;
    }
    *out = reinterpret_cast<cudaUserObject_t>(user_objects().next);
    user_objects().next += 64;
    const auto made = std::make_shared<UserObject>(object, destroy);
    user_objects().all[*out] = {made, References(references, made)};
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaUserObjectRetain(cudaUserObject_t handle, unsigned count) {
  return with_object("cudaUserObjectRetain", handle,
                     [&](const auto& object, References& program, References&) {
                       if (count == 0) return cudaErrorInvalidValue;
                       program.insert(program.end(), count, object);
                       return cudaSuccess;
                     });
}

HALFGRAD_EMULATOR_API cudaError_t cudaUserObjectRelease(cudaUserObject_t handle, unsigned count) {
  return with_object("cudaUserObjectRelease", handle,
                     [&](const auto& object, References& program, References& dropped) {
                       return move_references(object, program, count, dropped);
                     });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph_handle,
                                                            cudaUserObject_t handle, unsigned count,
                                                            unsigned flags) {
  constexpr const char* kFunction = "cudaGraphRetainUserObject";
  return with_object(kFunction, handle, [&](const auto& object, References& program, References&) {
    Graph* const graph = find_graph(graph_handle, kFunction);
    if (graph == nullptr || count == 0) return cudaErrorInvalidValue;
    if (flags == cudaGraphUserObjectMove) {
      return move_references(object, program, count, graph->user_objects);
    }
    if (flags != 0) return cudaErrorInvalidValue;
    graph->user_objects.insert(graph->user_objects.end(), count, object);
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph_handle,
                                                             cudaUserObject_t handle,
                                                             unsigned count) {
  constexpr const char* kFunction = "cudaGraphReleaseUserObject";
  return with_object(kFunction, handle, [&](const auto& object, References&, References& dropped) {
    Graph* const graph = find_graph(graph_handle, kFunction);
    if (graph == nullptr) return cudaErrorInvalidValue;
    return move_references(object, graph->user_objects, count, dropped);
  });
}

}  // namespace halfgrad::emulator
