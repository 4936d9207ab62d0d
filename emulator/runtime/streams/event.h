#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <halfgrad/emulator/runtime/streams/stream_state.h>

namespace halfgrad::emulator {

/// One cudaEventRecord: what it comes after, and when it completed.
struct EventRecord {
  Clock complete_when;                       ///< the record's own position included
  std::atomic<std::int64_t> nanoseconds{0};  ///< host time at completion; 0: not yet
};

/// A task that completes the record. Times of completion grow strictly, also if the clock does not.
Task record_task(std::shared_ptr<EventRecord> record);

/// Gives the stream a record of the event, which replaces the event's former one.
void record_event(StreamState& state, Stream& stream, Event& event);
/// Orders the stream's next operation after the event's record; nothing if it was never recorded.
void wait_for_event(StreamState& state, Stream& stream, const Event& event);

/// Success if the target is complete, else cudaErrorNotReady; but a lazy stream answers that a few
/// times only and then runs the work, so that loops of queries end. Locks the state itself.
cudaError_t query(StreamState& state, const Clock& target, std::shared_ptr<unsigned> polls);

}  // namespace halfgrad::emulator
