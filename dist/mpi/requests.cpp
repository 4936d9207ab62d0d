#include <halfgrad/dist/mpi/requests.h>

#include <algorithm>
#include <cstddef>

#include <halfgrad/dist/mpi/environment.h>

namespace halfgrad::dist {
namespace {

constexpr std::size_t kChunk = std::size_t{64} << 20;
constexpr int kData = 0;  // the tag; chunks between two ranks arrive in the order of sending

template <class Bytes, class F>
void for_each_chunk(Bytes bytes, const F& f) {
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(kChunk, bytes.size()))) {
    f(bytes.first(std::min(kChunk, bytes.size())));
  }
}

}  // namespace

MPI_Request& Requests::add(int peer, bool is_receive) {
  peers_.push_back(peer);
  are_receives_.push_back(is_receive);
  ++pending_;
  return requests_.emplace_back(MPI_REQUEST_NULL);
}

void Requests::receive(int from, ReceivedBytes bytes) {
  for_each_chunk(bytes, [&](ReceivedBytes chunk) {
    check_mpi(MPI_Irecv(chunk.data(), static_cast<int>(chunk.size()), MPI_BYTE, from, kData,
                        communicator_, &add(from, true)),
              "MPI_Irecv");
  });
}

void Requests::send(int to, SentBytes bytes) {
  for_each_chunk(bytes, [&](SentBytes chunk) {
    check_mpi(MPI_Isend(chunk.data(), static_cast<int>(chunk.size()), MPI_BYTE, to, kData,
                        communicator_, &add(to, false)),
              "MPI_Isend");
  });
}

bool Requests::test() {
  const auto count = static_cast<int>(requests_.size());
  std::vector<int> indices(requests_.size());
  std::vector<MPI_Status> statuses(requests_.size());
  int completed = 0;
  const int status =
      MPI_Testsome(count, requests_.data(), &completed, indices.data(), statuses.data());
  if (status == MPI_ERR_IN_STATUS) {
    for (int i = 0; i < completed; ++i) check_mpi(statuses[i].MPI_ERROR, "MPI_Testsome");
  }
  check_mpi(status, "MPI_Testsome");
  if (completed == MPI_UNDEFINED) completed = 0;
  pending_ -= completed;
  return completed > 0;
}

bool Requests::wait_for(int rank) const {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (peers_[i] == rank && requests_[i] != MPI_REQUEST_NULL) return true;
  }
  return false;
}

void Requests::cancel() noexcept {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    if (are_receives_[i]) MPI_Cancel(&requests_[i]);
    MPI_Request_free(&requests_[i]);
  }
}

}  // namespace halfgrad::dist
