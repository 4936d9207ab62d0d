#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

namespace halfgrad::emulator {

/// A random program of streams, events and waits, with its order as a plain graph: a node for each
/// operation, and an edge wherever the CUDA programming guide orders two of them.
class Program {
 public:
  explicit Program(std::uint64_t seed);
  ~Program();

  /// Issues one random call.
  void step();
  /// Ends with a wait for the device.
  void finish();

  /// Names of the operations given so far, in order of issue. The host's own ones are not among
  /// them.
  const std::vector<std::string>& names() const { return names_; }
  /// Whether operation i comes before operation j; both were given.
  bool comes_before(std::size_t i, std::size_t j) const;
  /// Operations that must have run by now, because the host waited for them.
  std::vector<std::size_t> waited_for() const;

 private:
  using Node = std::size_t;
  Node add_node(std::vector<Node> before);
  Node begin(std::size_t stream);
  std::vector<bool> reachable_from(Node node) const;  ///< walks edges backwards

  std::mt19937_64 random_;
  std::vector<std::vector<Node>> before_;  ///< predecessors of each node
  std::vector<cudaStream_t> streams_;      ///< 0 is the legacy stream
  std::vector<bool> is_blocking_;
  std::vector<Node> tails_;  ///< last node of each stream
  std::vector<cudaEvent_t> events_;
  std::vector<Node> recorded_;
  Node host_ = 0;
  std::vector<std::string> names_;
  std::vector<Node> nodes_;                          ///< node of each name
  mutable std::map<Node, std::vector<bool>> known_;  ///< cached results of reachable_from()
};

}  // namespace halfgrad::emulator
