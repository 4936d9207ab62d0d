#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <halfgrad/emulator/simt/execution.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {

inline constexpr unsigned kBarriers = 16;

/// The number by which groups of lanes name the barrier of the cluster.
inline constexpr std::uint8_t kClusterBarrier = kBarriers;

enum class BarrierAction : std::uint8_t {
  sync,
  arrive,
  popc,
  all,
  any,
  cluster_arrive,
  cluster_wait,
};

/// Facts of a bar or barrier instruction. Its sources are the barrier's number, the count of
/// threads if `counted`, and the predicate of a reduction.
struct BarrierOptions {
  BarrierAction action = BarrierAction::sync;
  bool aligned = false;  ///< all lanes of a warp execute the same barrier instruction
  bool counted = false;
  bool negated = false;  ///< the predicate of a reduction
  bool relaxed = false;  ///< an arrival at the cluster's barrier that orders no memory
};

/// The barriers of one block (PTX ISA, "Parallel Synchronization and Communication Instructions:
/// bar, barrier").
class BlockBarriers {
 public:
  /// One barrier between two completions.
  struct Phase {
    bool open = false;           ///< some lane arrived
    std::uint32_t expected = 0;  ///< threads; 0: all that did not exit
    std::uint32_t credit = 0;    ///< threads that arrived; a whole warp counts 32, exited lanes too
    std::uint32_t popc = 0;
    bool all = true, any = false;
    std::vector<LaneMask> partial;  ///< lanes of warps that did not arrive as a whole yet, by warp
  };

  /// Prepares for another kernel.
  void prepare() {
    known_.clear();
    left_early_.clear();
  }
  void start_block(Block& block);

  /// Lanes of one group arrive. The group of those that wait must be in its warp's list already,
  /// with the barrier's number. Completes the barrier if they were the last.
  void arrive(Execution& execution, const Instruction& instruction, unsigned id);
  /// Lanes of a warp exited: completes barriers that wait for nobody else.
  void lanes_exited(Warp& warp);

  const Phase& phase(unsigned id) const { return phases_[id]; }
  /// Count of completed barriers.
  std::uint64_t completions() const { return completions_; }

 private:
  void credit_whole_warp(Phase& phase, const Warp& warp, bool aligned);
  void complete_if_due(unsigned id);
  bool is_due(const Phase& phase) const;
  void complete(unsigned id);
  /// Reports threads that left the kernel from behind a barrier which others wait at.
  void check_passed_by(Warp& warp, const LaneGroup& group, unsigned id);
  void note_left_early(Warp& warp, const LaneGroup& group, unsigned id);
  bool passed_by(const Function& function, std::uint32_t barrier, std::uint32_t last_pc);

  Block* block_ = nullptr;
  std::array<Phase, kBarriers> phases_;
  std::uint32_t open_ = 0;  ///< a bit for each open barrier
  std::uint64_t completions_ = 0;
  struct Passing {
    const Function* function;
    std::uint32_t barrier, last_pc;
    bool passed;
  };
  std::vector<Passing> known_;                  ///< answers of passed_by()
  std::vector<const Instruction*> left_early_;  ///< barriers of the kernel that have a note
};

}  // namespace halfgrad::emulator
