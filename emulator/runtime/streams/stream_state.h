#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <cuda_runtime_api.h>

#include <halfgrad/emulator/runtime/streams/handle_table.h>
#include <halfgrad/emulator/runtime/streams/host_reads.h>
#include <halfgrad/emulator/runtime/streams/operation_log.h>
#include <halfgrad/emulator/runtime/streams/scheduler.h>
#include <halfgrad/emulator/runtime/streams/stream.h>
#include <halfgrad/emulator/runtime/work.h>
#include <halfgrad/emulator/settings.h>

namespace halfgrad::emulator {

/// All streams of the process, and the clocks that order their operations.
///
/// The host is one chain: calls of all its threads count in the order in which they reach the
/// runtime. The emulator checks the order of the GPU's work; races between host threads are another
/// tool's. Every member is called with `mutex` held, except those that lock it themselves.
class StreamState {
 public:
  explicit StreamState(const Settings& settings);

  std::mutex mutex;
  OperationLog log;
  Scheduler scheduler;
  HostReads host_reads;
  HandleTable<cudaStream_t, Stream> streams{0x5e0000000000};
  HandleTable<cudaEvent_t, Event> events{0x5e1000000000};

  /// The stream that a handle means for the calling thread, or nullptr.
  Stream* find(cudaStream_t handle);
  Stream& legacy_stream(int device);
  Stream& per_thread_stream(int device);
  Stream& make_stream(int device, unsigned flags, int priority, Stream::Kind kind);
  void destroy_stream(cudaStream_t handle);

  /// Orders the stream's next operation after the host so far and, by the rules of the legacy
  /// default stream (CUDA programming guide, "Default Stream"), after other streams.
  void begin_operation(Stream& stream);
  /// Adds an operation behind all that the stream was given. An empty description: nobody compares
  /// it.
  Position add_operation(Stream& stream, Task task, const std::string& description);
  /// Adds an operation to any chain.
  Position add_operation(ChainId chain, Task task, const std::string& description);

  /// Copies between two devices in the legacy default stream run after all that either device was
  /// given, and before all that either is given later (CUDA programming guide, "Peer-to-Peer Memory
  /// Copy"). To be called before and after the copy is added.
  void begin_copy_between(Stream& stream, std::pair<int, int> devices);
  void end_copy_between(const Stream& stream, std::pair<int, int> devices);

  /// All that the stream, or the device, was given until now.
  Clock given_to(Stream& stream);
  Clock given_to_device(int device);
  /// The host comes after these operations.
  void order_host(const Clock& after);
  /// Runs what was given, unless streams are lazy. Locks `mutex` itself.
  void run_eagerly();
  /// Runs until the target is complete and orders the host after it. Locks `mutex` itself.
  void wait(const Clock& target);
  /// The same, but returns false where a task lacks a partner on another device.
  bool try_wait(const Clock& target);

  /// The host's own operation between two calls of the runtime.
  OperationId host_operation();

  const Settings& settings() const { return settings_; }

 private:
  void forget_old_operations();
  void watch_host();

  const Settings settings_;
  std::map<int, Stream*> legacy_;
  std::map<std::pair<std::thread::id, int>, Stream*> per_thread_;
  unsigned long long next_stream_ = 1;
  ChainId host_chain_ = 0;
  std::uint32_t host_operations_ = 0;
  OperationId current_host_operation_ = 0;  ///< 0: the next access begins another one
  SharedClock host_;                        ///< the host's operations and those it has waited for
  Clock forgettable_;  ///< host_ when forgettable_since_ was the newest operation
  OperationId forgettable_since_ = 0;
  std::map<int, Clock> destroyed_;  ///< last operations of destroyed streams, by device
};

/// The state of this process.
StreamState& stream_state();
/// Begins again with other settings: for tests.
void reset_stream_state(const Settings& settings);

}  // namespace halfgrad::emulator
