#include <halfgrad/dist/mpi/mpi_transport.h>

#include <algorithm>
#include <iostream>
#include <utility>
#include <vector>

#include <halfgrad/dist/communicator.h>
#include <halfgrad/dist/host/errors.h>
#include <halfgrad/dist/host/values_of_ranks.h>
#include <halfgrad/dist/mpi/backoff.h>

namespace halfgrad::dist {

using Clock = std::chrono::steady_clock;

MpiTransport::MpiTransport(std::chrono::milliseconds timeout, bool shared_memory)
    : timeout_(timeout), members_(MPI_COMM_WORLD) {
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &data_), "MPI_Comm_dup");
  check_mpi(MPI_Comm_set_errhandler(data_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  node_memory_.emplace(data_, shared_memory);
}

MpiTransport::~MpiTransport() {
  if (abandoned_) return;
  try {
    const auto missing = members_.wait_until_all_left(timeout_);
    if (!missing.empty()) fail_silent(missing, timeout_);
    for (int r = 0; r < size(); ++r) {
      if (r != rank() && members_.notice_of(r)->failed) environment_->abandon();
    }
  } catch (const std::exception& error) {
    std::cerr << "halfgrad: at the end of " + name_of(rank()) + ": " + error.what() + '\n';
    environment_->abandon();
  }
}

void MpiTransport::exchange(std::span<const SentBytes> sends,
                            std::span<const ReceivedBytes> receives) {
  Requests requests(data_);
  try {
    // Each rank starts with its neighbour, so that no rank is the first one for all others.
    for (int step = 1; step < size(); ++step) {
      const int from = (rank() + size() - step) % size();
      requests.receive(from, receives[from]);
    }
    for (int step = 1; step < size(); ++step) {
      const int to = (rank() + step) % size();
      requests.send(to, sends[to]);
    }
    wait_for(requests);
  } catch (const std::exception& error) {
    requests.cancel();
    abandon(error.what());
    throw;
  }
  ++exchanges_;
}

Array MpiTransport::empty(const Shape& sizes, DType dtype) {
  return node_memory_->empty(sizes, dtype);
}

std::vector<const std::byte*> MpiTransport::addresses(const std::byte* memory) {
  if (!node_memory_->is_shared()) return {};
  const auto places = values_of_ranks(*this, node_memory_->place_of(memory));
  return node_memory_->addresses_of(places, memory);
}

// Asks the ranks whether they are alive in the last part of the time-out, so that an error can say
// at its end which rank is missing. Messages may arrive until then.
void MpiTransport::wait_for(Requests& requests) {
  const auto for_answers =
      std::min<std::chrono::milliseconds>(timeout_ / 4, std::chrono::seconds(2));
  auto last_arrival = Clock::now();
  bool is_roll_called = false;
  Backoff backoff;
  for (int round = 0; !requests.are_complete(); ++round) {
    if (requests.test()) {
      last_arrival = Clock::now();
      is_roll_called = false;
      backoff = {};
      continue;
    }
    if (round % 16 == 0) {
      members_.serve(true);
      expect_members(requests);
    }
    if (interrupted_) fail_interrupted();
    const auto waited = Clock::now() - last_arrival;
    if (waited >= timeout_) fail_late(requests);
    if (waited >= timeout_ - for_answers && !std::exchange(is_roll_called, true)) {
      members_.call_roll();
    }
    backoff.pause(*waiting_threads() > 0);
  }
}

void MpiTransport::fail_late(const Requests& requests) {
  members_.serve(true);
  std::vector<bool> missing(size());
  for (int r = 0; r < size(); ++r) missing[r] = requests.wait_for(r);
  throw CommunicationError("expected every rank to take part within " + text_of(timeout_) +
                           ", got " + members_.answers_of(missing));
}

// Throws if a message from or to a rank is missing that left before this exchange. A rank that left
// after it has sent all of its messages before.
void MpiTransport::expect_members(const Requests& requests) {
  for (int r = 0; r < size(); ++r) {
    const Members::Notice* const notice = members_.notice_of(r);
    if (notice && notice->exchanges <= exchanges_ && requests.wait_for(r)) {
      fail_left(name_of(r), notice->reason);
    }
  }
}

void MpiTransport::leave(const std::string& reason, bool after_error) noexcept {
  if (after_error) return abandon(reason);
  if (left_) return;
  left_ = true;
  try {
    members_.leave(exchanges_, false, reason);
  } catch (const std::exception&) {
    abandon(reason);
  }
}

void MpiTransport::abandon(const std::string& reason) noexcept {
  if (abandoned_) return;
  abandoned_ = true;
  environment_->abandon();
  try {
    if (!left_) members_.leave(exchanges_, true, reason);
  } catch (const std::exception&) {
    // The other ranks will run into their time-outs.
  }
  left_ = true;
}

}  // namespace halfgrad::dist
