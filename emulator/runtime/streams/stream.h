#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include <halfgrad/emulator/checks/operation_order.h>
#include <halfgrad/emulator/runtime/streams/clock.h>

namespace halfgrad::emulator {

struct Capture;
struct GraphNode;

/// A CUDA stream: its operations run one after the other.
struct Stream {
  cudaStream_t handle = nullptr;
  unsigned long long id = 0;  ///< returned by cudaStreamGetId, used in messages
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  enum class Kind : std::uint8_t { created, legacy, per_thread } kind = Kind::created;

  ChainId chain = 0;
  Position last;                  ///< newest operation; index 0: none yet
  Position last_kernel;           ///< newest launch of a kernel that is no node of a graph
  OperationId last_launch = 0;    ///< its number
  SharedClock after;              ///< other operations that the next one comes after
  std::vector<ChainId> branches;  ///< chains of concurrent branches of the graphs launched here
  /// How many queries since the newest operation answered "not ready".
  std::shared_ptr<unsigned> polls = std::make_shared<unsigned>(0);

  std::shared_ptr<Capture> capture;              ///< nullptr: not captured
  std::vector<GraphNode*> capture_dependencies;  ///< dependencies of the next node
  cudaStreamAttrValue synchronization_policy{}, access_policy{};
  std::string made_at;  ///< call sites, of created streams

  /// Whether it waits for the legacy stream, and the legacy stream for it.
  bool blocks_with_legacy() const {
    return kind != Kind::legacy && (flags & cudaStreamNonBlocking) == 0;
  }
  std::string name() const {
    return kind == Kind::legacy ? "the default stream" : "stream " + std::to_string(id);
  }
};

/// The completion of one cudaEventRecord.
struct EventRecord;

/// A CUDA event: a place in a stream for which other streams and the host can wait.
struct Event {
  cudaEvent_t handle = nullptr;
  int device = 0;
  unsigned flags = 0;
  std::shared_ptr<EventRecord> record;  ///< nullptr: never recorded, or recorded in a capture
  std::weak_ptr<Capture> capture;       ///< capture that holds the newest record, if any
  bool is_captured = false;
  std::vector<GraphNode*> capture_dependencies;  ///< nodes that a waiting stream then follows
  std::shared_ptr<unsigned> polls = std::make_shared<unsigned>(0);
  std::string made_at;  ///< call sites
};

}  // namespace halfgrad::emulator
