#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nccl.h>

#include <halfgrad/emulator/nccl/clique.h>

/// State behind an ncclComm_t.
struct ncclComm {
  static constexpr std::uint32_t kMagic = 0x6e63636c;
  std::uint32_t magic = kMagic;
  std::shared_ptr<halfgrad::emulator::Clique> clique;
  int rank = 0;
  bool is_finalized = false;
  std::vector<double> factors;  ///< made by ncclRedOpCreatePreMulSum; NaN once destroyed

  int size() const { return clique->size(); }
  int device() const { return clique->ranks[static_cast<std::size_t>(rank)].device; }
};

namespace halfgrad::emulator {

/// Whether the handle is a communicator's; adds a note otherwise.
bool is_communicator(ncclComm_t communicator, const char* function);

/// Returns the result, adds a note of the reason and keeps it for ncclGetLastError.
ncclResult_t refuse_nccl(const char* function, ncclResult_t result, const std::string& reason);
const std::string& last_nccl_error();

/// Gives a call to the stream, at once or when the thread's group ends.
ncclResult_t give_call(ncclComm_t communicator, cudaStream_t stream, const RankCall& call);

/// Makes this thread join a communicator; waits for the other ranks at once or when the thread's
/// group ends.
ncclResult_t join_clique(ncclComm_t* communicator, std::shared_ptr<Clique> clique, int rank,
                         int device, const char* function);
/// Waits until all ranks have joined.
ncclResult_t wait_for_ranks(const ncclComm& communicator, const char* function);

/// Makes `device` current until the end of the scope.
class OnDevice {
 public:
  explicit OnDevice(int device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

}  // namespace halfgrad::emulator
