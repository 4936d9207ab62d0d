#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include <halfgrad/core/stream.h>
#include <halfgrad/dist/communicator.h>
#include <halfgrad/dist/host/call.h>
#include <halfgrad/dist/nccl/nccl_connection.h>

namespace halfgrad::dist {

/// One rank on one GPU. NCCL only moves bytes: its own sums add in an order that depends on the
/// number of elements. Each rank gets one part of all ranks' arrays and adds it up in the order of
/// ranks, and the parts are gathered:
///
///   rank 0   a0 b0 c0            a0 a1 a2 -> a            a b c
///   rank 1   a1 b1 c1   send ->  b0 b1 b2 -> b  gather -> a b c
///   rank 2   a2 b2 c2            c0 c1 c2 -> c            a b c
///
/// Small arrays are gathered whole, and every rank adds all of them: one step of communication.
class NcclCommunicator final : public Communicator {
 public:
  /// Takes over `comm`, whose device is `device`.
  NcclCommunicator(ncclComm* comm, Device device, std::vector<std::string> names, int rank,
                   std::chrono::milliseconds timeout);
  /// Completes all collectives, unless an exception is being thrown: they are given up then.
  ~NcclCommunicator() override;

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(names_.size()); }
  std::string name_of(int rank) const override { return names_.at(static_cast<std::size_t>(rank)); }

  Work all_reduce(const Array& array, ReduceOp op) override;
  Work reduce_scatter(const Array& output, const Array& input, ReduceOp op) override;
  Work all_gather(const Array& output, const Array& input) override;
  Work broadcast(const Array& array, int root) override;
  void barrier() override;

 private:
  Work launch(const Call& call, std::initializer_list<const Array*> arrays,
              const std::function<void(const std::string&)>& queue);
  std::vector<Array> exchange_parts(const std::string& call, const Array& input);
  void reduce_by_parts(const std::string& call, const Array& flat, ReduceOp op);
  void reduce_whole(const std::string& call, const Array& flat, ReduceOp op);
  void gather(const std::string& call, const Array& output, const Array& input);

  const Device device_;
  const std::vector<std::string> names_;
  const int rank_;
  std::int64_t calls_ = 0;
  halfgrad::detail::OwnStream stream_;
  NcclConnection connection_;
};

}  // namespace halfgrad::dist
