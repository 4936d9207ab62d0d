#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <mpi.h>

#include <halfgrad/core/array.h>
#include <halfgrad/dist/host/shared_memory.h>

namespace halfgrad::dist {

/// The arrays that the ranks of a communicator can read where they lie, if all of them are
/// processes of one machine.
class NodeMemory {
 public:
  /// All ranks must call it together. They share memory if all of them `want` to and can.
  NodeMemory(MPI_Comm communicator, bool want);

  bool is_shared() const { return own_ != nullptr; }
  /// Returns an uninitialised array, shared if is_shared(). May be called by any thread.
  Array empty(const Shape& sizes, DType dtype) const;
  SharedPlace place_of(const std::byte* memory) const { return own_->place_of(memory); }
  /// Returns where this rank reads one place of each rank, or nothing if one is not shared. `own`
  /// is the address of this rank's place.
  std::vector<const std::byte*> addresses_of(const std::vector<SharedPlace>& places,
                                             const std::byte* own);

 private:
  bool can_read_all(MPI_Comm communicator);

  std::shared_ptr<SharedMemory> own_ = std::make_shared<SharedMemory>();
  std::vector<PeerMemory> peers_;  // by rank
  int rank_ = 0;
};

}  // namespace halfgrad::dist
