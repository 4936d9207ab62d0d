#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

namespace halfgrad::dist {

/// Messages of the ranks beside the collectives, on an MPI communicator of their own: a rank
/// has left, or asks whether another is alive.
class Members {
 public:
  explicit Members(MPI_Comm world);

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(names_.size()); }
  const std::string& name_of(int rank) const { return names_.at(rank); }

  /// A rank's last message.
  struct Notice {
    std::int64_t exchanges;  ///< in which it took part
    std::int64_t failed;     ///< not 0: after an error
    char reason[2000];       ///< with a final 0
  };
  /// The notice of a rank that has left, else nullptr.
  const Notice* notice_of(int rank) const { return notices_[rank].get(); }

  /// Receives notices, and answers the questions of other ranks. `busy` says whether this rank
  /// waits in an exchange.
  void serve(bool busy);

  /// Asks all ranks whether they wait in an exchange. serve() receives their answers.
  void call_roll();
  /// Returns what the answers to call_roll() say, for an error: which of the `missing` ranks are
  /// silent, and which have not called the collective.
  std::string answers_of(const std::vector<bool>& missing) const;

  /// Sends the notice to all ranks, and waits a second at most until it is on its way to those that
  /// are not silent.
  void leave(std::int64_t exchanges, bool failed, const std::string& reason);
  /// Waits until all ranks have left. Returns the names of those that have not after `limit`.
  std::vector<std::string> wait_until_all_left(std::chrono::milliseconds limit);

 private:
  template <class T>
  bool receive(int tag, int& from, T& message);
  template <class T>
  void send(int to, int tag, const T& message);
  bool is_sent();
  bool is_silent(int rank) const;

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<Notice>> notices_;
  std::int64_t roll_calls_ = 0;
  std::vector<std::optional<bool>> are_busy_;  // the answers to the last roll call

  struct Sent {
    int to;
    std::vector<std::byte> bytes;
    MPI_Request request;
  };
  std::vector<Sent> sent_;  // on their way
};

}  // namespace halfgrad::dist
