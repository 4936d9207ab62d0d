#pragma once

#include <vector>

#include <mpi.h>

#include <halfgrad/dist/host/transport.h>

namespace halfgrad::dist {

/// The messages of one exchange that are under way.
class Requests {
 public:
  explicit Requests(MPI_Comm communicator) : communicator_(communicator) {}

  /// Long messages are sent in chunks: MPI counts bytes in an int, and each complete chunk shows
  /// that a rank is alive.
  void receive(int from, ReceivedBytes bytes);
  void send(int to, SentBytes bytes);

  /// Moves the messages on. Returns whether one was completed.
  bool test();
  bool are_complete() const { return pending_ == 0; }
  /// True if a message from or to `rank` is not complete.
  bool wait_for(int rank) const;
  /// Cancels what can be cancelled. A message may still arrive during later calls of MPI.
  void cancel() noexcept;

 private:
  MPI_Request& add(int peer, bool is_receive);

  MPI_Comm communicator_;
  std::vector<MPI_Request> requests_;
  std::vector<int> peers_;
  std::vector<bool> are_receives_;
  int pending_ = 0;
};

}  // namespace halfgrad::dist
