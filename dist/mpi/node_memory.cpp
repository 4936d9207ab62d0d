#include <halfgrad/dist/mpi/node_memory.h>

#include <unistd.h>

#include <cstdint>
#include <random>

#include <halfgrad/dist/communicator.h>
#include <halfgrad/dist/mpi/environment.h>

namespace halfgrad::dist {
namespace {

// True if all ranks are on one machine.
bool is_one_node(MPI_Comm communicator) {
  MPI_Comm node = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
            "MPI_Comm_split_type");
  int all = 0, here = 0;
  check_mpi(MPI_Comm_size(communicator, &all), "MPI_Comm_size");
  check_mpi(MPI_Comm_size(node, &here), "MPI_Comm_size");
  check_mpi(MPI_Comm_free(&node), "MPI_Comm_free");
  return here == all;
}

std::int64_t random_element() {
  std::random_device random;
  return static_cast<std::int64_t>(std::uint64_t{random()} << 32 | random());
}

// A shared array, of which the others read the first element.
struct Probe {
  std::int64_t process, element;
  SharedPlace place;
};

}  // namespace

NodeMemory::NodeMemory(MPI_Comm communicator, bool want) {
  int can_share = is_one_node(communicator) && can_read_all(communicator) && want, all_can = 0;
  check_mpi(MPI_Allreduce(&can_share, &all_can, 1, MPI_INT, MPI_LAND, communicator),
            "MPI_Allreduce");
  if (!all_can) own_ = nullptr;
}

// Processes in containers of one machine may not see each other, or see another process by the same
// number: each rank reads a random number of the others.
bool NodeMemory::can_read_all(MPI_Comm communicator) {
  const Array array = own_->empty({1024}, kInt64);
  const Probe own = {
      .process = getpid(), .element = random_element(), .place = own_->place_of(array.data())};
  array.data_as<std::int64_t>()[0] = own.element;
  int ranks = 0;
  check_mpi(MPI_Comm_rank(communicator, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(communicator, &ranks), "MPI_Comm_size");
  std::vector<Probe> probes(ranks);
  check_mpi(MPI_Allgather(&own, sizeof(Probe), MPI_BYTE, probes.data(), sizeof(Probe), MPI_BYTE,
                          communicator),
            "MPI_Allgather");

  std::vector<SharedPlace> places;
  for (const Probe& probe : probes) {
    peers_.emplace_back(static_cast<pid_t>(probe.process));
    places.push_back(probe.place);
  }
  bool are_equal = true;
  try {
    const std::vector<const std::byte*> addresses = addresses_of(places, array.data());
    are_equal = !addresses.empty();
    for (std::size_t r = 0; r < addresses.size(); ++r) {
      are_equal &= *reinterpret_cast<const std::int64_t*>(addresses[r]) == probes[r].element;
    }
  } catch (const CommunicationError&) {
    are_equal = false;
  }
  return are_equal;
}

Array NodeMemory::empty(const Shape& sizes, DType dtype) const {
  return own_ ? own_->empty(sizes, dtype) : Array::empty(sizes, dtype);
}

std::vector<const std::byte*> NodeMemory::addresses_of(const std::vector<SharedPlace>& places,
                                                       const std::byte* own) {
  for (const SharedPlace& place : places) {
    if (place.file < 0) return {};
  }
  std::vector<const std::byte*> addresses;
  for (int r = 0; r < static_cast<int>(places.size()); ++r) {
    addresses.push_back(r == rank_ ? own : peers_[r].address_of(places[r]));
  }
  return addresses;
}

}  // namespace halfgrad::dist
