#pragma once

#include <gtest/gtest.h>

#include <string>

#include "small_gpu.h"

namespace halfgrad::emulator {

inline const char* const kSync = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
inline const char* const kShared = ".shared .align 8 .b32 mine[64];\n";

/// Puts the place of this thread's word of the buffer into %rd3; %r4 is the block, %r5 the rank.
inline const char* const kOwnWord = R"(
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r5, %cluster_ctarank;
  mov.u32 %r6, %ntid.x;
  mad.lo.u32 %r7, %r4, %r6, %r1;
  mul.wide.u32 %rd2, %r7, 4;
  add.s64 %rd3, %rd1, %rd2;
)";

/// The address of this thread's element of `mine` in the next block of a cluster of 4 is in %r12,
/// that of its own in %r10.
inline const char* const kNeighbour = R"(
  mov.u32 %r8, mine;
  shl.b32 %r9, %r1, 2;
  add.u32 %r10, %r8, %r9;
  add.u32 %r11, %r5, 1;
  and.b32 %r11, %r11, 3;
  mapa.shared::cluster.u32 %r12, %r10, %r11;
)";

class Clusters : public testing::Test {
 protected:
  Clusters() {
    gpu.settings.check_race = gpu.settings.check_init = true;
    gpu.cluster = {4};
  }
  LaunchCounters run(const std::string& body, Dim3 grid, Dim3 block) {
    return gpu.launch(kernel(kShared + body + "\nret;"), grid, block);
  }
  SmallGpu gpu;
};

}  // namespace halfgrad::emulator
