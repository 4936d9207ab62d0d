#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <halfgrad/core/array.h>

namespace halfgrad::dist {

using SentBytes = std::span<const std::byte>;
using ReceivedBytes = std::span<std::byte>;

/// How the ranks of a HostCommunicator send bytes to each other. Its thread of communication makes
/// all calls but interrupt(). Every error is a CommunicationError.
class Transport {
 public:
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// See Communicator::name_of().
  virtual std::string name_of(int rank) const = 0;

  /// Sends sends[r] to each rank r, and fills receives[r] with what rank r sends in its same call,
  /// which must have the same size. Nothing is sent from a rank to itself, nor for empty spans.
  ///
  /// Throws if a rank has left, or if the exchange is not complete within the time-out; the memory
  /// of all spans must then stay valid until the program ends, since a late message may arrive.
  virtual void exchange(std::span<const SentBytes> sends,
                        std::span<const ReceivedBytes> receives) = 0;

  /// Returns an uninitialised array on the host, if possible in memory that other ranks can read.
  /// May be called by any thread.
  virtual Array empty(const Shape& sizes, DType dtype) { return Array::empty(sizes, dtype); }

  /// Returns where this rank can read the `memory` that each rank names in its same call, in the
  /// order of ranks. Returns nothing, on every rank, unless all ranks can read all of it. The
  /// addresses stay readable until the rank that owns the memory has released it.
  virtual std::vector<const std::byte*> addresses(const std::byte* /*memory*/) { return {}; }

  /// Tells the other ranks that this one takes part in no further exchange: each exchange that
  /// still waits for it throws an error with `reason`. Returns soon, whatever the others do. Later
  /// calls do nothing.
  virtual void leave(const std::string& reason, bool after_error) noexcept = 0;

  /// Makes a running exchange throw soon. May be called by any thread.
  virtual void interrupt() noexcept = 0;

  /// How many threads of the program wait for a collective at this moment. While one does, its core
  /// is free for an exchange that asks again and again whether a message has arrived.
  const std::shared_ptr<std::atomic<int>>& waiting_threads() const { return waiting_threads_; }

  /// Called ten times a second while no collective runs, to answer questions of other ranks.
  virtual void idle() {}

 protected:
  Transport() = default;

 private:
  const std::shared_ptr<std::atomic<int>> waiting_threads_ = std::make_shared<std::atomic<int>>(0);
};

/// Sends `sent` to every rank, and fills receives[r] with what rank r sends.
inline void exchange_with_all(Transport& transport, SentBytes sent,
                              std::span<const ReceivedBytes> receives) {
  const std::vector<SentBytes> sends(receives.size(), sent);
  transport.exchange(sends, receives);
}

}  // namespace halfgrad::dist
