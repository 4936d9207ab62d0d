#include <halfgrad/dist/mpi/members.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <thread>

#include <halfgrad/dist/mpi/environment.h>

namespace halfgrad::dist {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPause = std::chrono::milliseconds(1);

enum Tag { kNotice = 1, kQuestion, kAnswer };

struct Name {
  char text[256];
};

struct Answer {
  std::int64_t roll_call;  // the number of the question
  bool busy;               // the rank waits in an exchange
};

Name own_name(int rank) {
  char host[128] = {};
  gethostname(host, sizeof(host) - 1);
  Name name = {};
  std::snprintf(name.text, sizeof(name.text), "rank %d (%s, pid %d)", rank, host, getpid());
  return name;
}

void append(std::string& list, const std::string& name) {
  list += (list.empty() ? "" : ", ") + name;
}

}  // namespace

Members::Members(MPI_Comm world) {
  check_mpi(MPI_Comm_dup(world, &communicator_), "MPI_Comm_dup");
  check_mpi(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  int size = 0;
  check_mpi(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(communicator_, &size), "MPI_Comm_size");

  const Name own = own_name(rank_);
  std::vector<Name> names(size);
  check_mpi(MPI_Allgather(&own, sizeof(Name), MPI_BYTE, names.data(), sizeof(Name), MPI_BYTE,
                          communicator_),
            "MPI_Allgather");
  for (const Name& name : names) names_.emplace_back(name.text);
  notices_.resize(size);
  are_busy_.resize(size);
}

// Receives a message with this tag from any rank, if one has arrived.
template <class T>
bool Members::receive(int tag, int& from, T& message) {
  int has_arrived = 0;
  MPI_Status status;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag, communicator_, &has_arrived, &status), "MPI_Iprobe");
  if (!has_arrived) return false;
  from = status.MPI_SOURCE;
  check_mpi(MPI_Recv(&message, sizeof(T), MPI_BYTE, from, tag, communicator_, &status), "MPI_Recv");
  return true;
}

template <class T>
void Members::send(int to, int tag, const T& message) {
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &message, sizeof(T));
  sent_.push_back({to, std::move(bytes), MPI_REQUEST_NULL});
  Sent& sent = sent_.back();
  check_mpi(
      MPI_Isend(sent.bytes.data(), sizeof(T), MPI_BYTE, to, tag, communicator_, &sent.request),
      "MPI_Isend");
}

// Forgets the messages that are sent. Returns whether the others are all to silent ranks.
bool Members::is_sent() {
  std::erase_if(sent_, [](Sent& sent) {
    int done = 0;
    check_mpi(MPI_Test(&sent.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  });
  return std::all_of(sent_.begin(), sent_.end(),
                     [this](const Sent& sent) { return is_silent(sent.to); });
}

// True for a rank that has not answered the last roll call.
bool Members::is_silent(int rank) const {
  return roll_calls_ > 0 && rank != rank_ && !are_busy_[rank] && !notices_[rank];
}

void Members::serve(bool busy) {
  int from = 0;
  std::int64_t roll_call = 0;
  Notice notice;
  Answer answer;
  while (receive(kNotice, from, notice)) notices_[from] = std::make_unique<Notice>(notice);
  while (receive(kQuestion, from, roll_call)) send(from, kAnswer, Answer{roll_call, busy});
  while (receive(kAnswer, from, answer)) {
    if (answer.roll_call == roll_calls_) are_busy_[from] = answer.busy;
  }
  is_sent();
}

void Members::call_roll() {
  are_busy_.assign(size(), std::nullopt);
  ++roll_calls_;
  for (int r = 0; r < size(); ++r) {
    if (r != rank_) send(r, kQuestion, roll_calls_);
  }
}

std::string Members::answers_of(const std::vector<bool>& missing) const {
  std::string silent, elsewhere, waiting;
  for (int r = 0; r < size(); ++r) {
    if (is_silent(r)) {
      append(silent, names_[r]);
    } else if (missing[r] && are_busy_[r]) {
      append(*are_busy_[r] ? waiting : elsewhere, names_[r]);
    }
  }
  std::string text;
  if (!silent.empty()) append(text, "no answer from " + silent);
  if (!elsewhere.empty()) append(text, elsewhere + " alive without having called it");
  if (text.empty() && !waiting.empty()) append(text, "no data from " + waiting + ", still waiting");
  return text.empty() ? "an answer from every rank, but no data" : text;
}

void Members::leave(std::int64_t exchanges, bool failed, const std::string& reason) {
  Notice notice = {exchanges, failed, {}};
  std::strncpy(notice.reason, reason.c_str(), sizeof(notice.reason) - 1);
  for (int r = 0; r < size(); ++r) {
    if (r != rank_) send(r, kNotice, notice);
  }
  const auto deadline = Clock::now() + std::chrono::seconds(1);
  while (!is_sent() && Clock::now() < deadline) std::this_thread::sleep_for(kPause);
}

std::vector<std::string> Members::wait_until_all_left(std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  for (;;) {
    serve(false);
    std::vector<std::string> missing;
    for (int r = 0; r < size(); ++r) {
      if (r != rank_ && !notices_[r]) missing.push_back(names_[r]);
    }
    if ((missing.empty() && is_sent()) || Clock::now() >= deadline) return missing;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace halfgrad::dist
