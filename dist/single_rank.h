#pragma once

#include <functional>
#include <memory>
#include <string>

#include <halfgrad/dist/communicator.h>

namespace halfgrad::dist {

/// The communicator of a program that runs alone. Nothing is sent, and no bit changes: an average
/// of one rank is its array.
class SingleRank final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string name_of(int rank) const override { return "rank " + std::to_string(rank); }

  Work all_reduce(const Array& array, ReduceOp op) override;
  Work reduce_scatter(const Array& output, const Array& input, ReduceOp op) override;
  Work all_gather(const Array& output, const Array& input) override;
  Work broadcast(const Array& array, int root) override;
  void barrier() override {}
  std::shared_ptr<void> watch(std::function<void(const CollectiveSpan&)> /*observer*/) override {
    return nullptr;
  }
};

}  // namespace halfgrad::dist
