#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <halfgrad/dist/host/transport.h>
#include <halfgrad/dist/mpi/environment.h>
#include <halfgrad/dist/mpi/members.h>
#include <halfgrad/dist/mpi/node_memory.h>
#include <halfgrad/dist/mpi/requests.h>

namespace halfgrad::dist {

/// Sends bytes between the processes of MPI_COMM_WORLD, by MPI's non-blocking messages. An exchange
/// fails if no message is completed within the time-out.
class MpiTransport final : public Transport {
 public:
  /// `shared_memory`: whether this rank lets others of its machine read its arrays.
  MpiTransport(std::chrono::milliseconds timeout, bool shared_memory);
  /// Waits for the destructors of the other ranks, unless this rank failed. If they do not arrive
  /// within the time-out, prints which to std::cerr.
  ~MpiTransport() override;

  int rank() const override { return members_.rank(); }
  int size() const override { return members_.size(); }
  std::string name_of(int rank) const override { return members_.name_of(rank); }

  void exchange(std::span<const SentBytes> sends, std::span<const ReceivedBytes> receives) override;
  Array empty(const Shape& sizes, DType dtype) override;
  std::vector<const std::byte*> addresses(const std::byte* memory) override;
  void leave(const std::string& reason, bool after_error) noexcept override;
  void interrupt() noexcept override { interrupted_ = true; }
  void idle() override { members_.serve(false); }

 private:
  void wait_for(Requests& requests);
  void expect_members(const Requests& requests);
  [[noreturn]] void fail_late(const Requests& requests);
  void abandon(const std::string& reason) noexcept;

  const std::shared_ptr<MpiEnvironment> environment_ = MpiEnvironment::get();
  const std::chrono::milliseconds timeout_;
  Members members_;
  MPI_Comm data_ = MPI_COMM_NULL;
  std::optional<NodeMemory> node_memory_;
  std::int64_t exchanges_ = 0;  // complete ones
  bool left_ = false;
  bool abandoned_ = false;
  std::atomic<bool> interrupted_ = false;
};

}  // namespace halfgrad::dist
