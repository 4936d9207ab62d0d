#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <string>

#include <halfgrad/emulator/simt/launch.h>
#include <halfgrad/emulator/simt/vain_turns.h>

namespace halfgrad::emulator {

/// State shared by the host threads that run one grid.
struct GridState {
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  explicit GridState(Launch& launch)
      : launch(launch),
        blocks(launch.request.grid.product()),
        cluster_blocks(launch.request.cluster.product()),
        clusters(blocks / cluster_blocks) {}

  Launch& launch;
  std::uint64_t blocks, cluster_blocks, clusters;
  std::uint64_t resident_limit = kNone;  ///< blocks that run at the same time
  bool step = false;                     ///< prints each instruction
  std::atomic<std::uint64_t> next_cluster{0};
  std::atomic<std::uint64_t> resident{0};
  std::atomic<std::uint64_t> aborted{kNone};  ///< lowest block that ended the launch
  VainTurns vain_turns;

  /// Records the exception that ended a block. Blocks with a higher number stop, and blocks with a
  /// lower number go on: the lowest failing block decides, so the number of threads does not
  /// matter.
  void abort(std::uint64_t block, std::exception_ptr exception);
  /// The exception of the lowest block, or nullptr.
  std::exception_ptr failure() const { return exception_; }
  /// Keeps what the block printed; printf's output appears in the order of the blocks.
  void print(std::uint64_t block, std::string text);
  void flush_output();

 private:
  std::mutex mutex_;
  std::exception_ptr exception_;
  std::map<std::uint64_t, std::string> printed_;
};

}  // namespace halfgrad::emulator
