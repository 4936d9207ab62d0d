#pragma once

#include <memory>
#include <vector>

#include <halfgrad/emulator/simt/launch.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {

/// The frames of one warp. Frames stay allocated from block to block of a launch, with their
/// constants and special registers filled in.
class WarpFrames {
 public:
  /// Makes the kernel's frame for a launch.
  void prepare(const Launch& launch, Warp& warp);
  /// A block starts: special registers such as %ctaid change.
  void start_block();

  Frame& kernel_frame() { return *levels_[0][0]; }
  /// The frame of `function` at `depth` whose local memory begins at `local_begin`. `lanes` enter
  /// it.
  Frame& enter(const Function& function, std::uint32_t depth, std::uint32_t local_begin);

 private:
  struct Owned : Frame {
    std::vector<std::byte> memory;
    std::uint64_t block_serial = 0;  ///< the block whose special registers it holds
  };

  Owned& make(const Function& function, std::uint32_t depth, std::uint32_t local_begin);
  void refresh(Owned& frame);

  const Launch* launch_ = nullptr;
  Warp* warp_ = nullptr;
  std::uint64_t block_serial_ = 0;
  std::vector<std::vector<std::unique_ptr<Owned>>> levels_;  ///< by depth
};

}  // namespace halfgrad::emulator
