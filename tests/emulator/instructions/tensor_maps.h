#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <halfgrad/emulator/memory/tensor_map.h>

#include "../simt/small_gpu.h"

namespace halfgrad::emulator {

/// A tensor of words in the buffer of a SmallGpu, and boxes of it.
struct TensorShape {
  std::vector<std::uint64_t> dims;
  std::vector<std::uint32_t> box;
  unsigned type = 2;  ///< CU_TENSOR_MAP_DATA_TYPE_UINT32
  unsigned swizzle = 0, fill = 0;
  std::vector<std::uint32_t> steps{};    ///< default: 1
  std::vector<std::uint64_t> strides{};  ///< in bytes; default: rows follow each other

  TensorMap at(std::uint64_t address) const {
    const std::vector<std::uint32_t> ones(dims.size(), 1);
    std::vector<std::uint64_t> all = strides;
    std::uint64_t bytes = bytes_of(static_cast<TensorElement>(type));
    for (std::size_t i = 0; strides.empty() && i + 1 < dims.size(); ++i) {
      all.push_back(bytes *= dims[i]);
    }
    return encode_tensor_map({.type = type,
                              .rank = static_cast<unsigned>(dims.size()),
                              .address = address,
                              .dims = dims.data(),
                              .strides = all.data(),
                              .box = box.data(),
                              .steps = steps.empty() ? ones.data() : steps.data(),
                              .swizzle = swizzle,
                              .fill = fill});
  }
};

/// Runs kernels that copy tiles. Word i of the buffer holds i at first, in the first kInput words.
class TensorCopies : public testing::Test {
 protected:
  static constexpr unsigned kInput = 2048, kOutput = 2048;  // words

  TensorCopies() {
    for (unsigned i = 0; i < kInput; ++i) gpu.word(i) = i;
  }

  /// Runs `body` in 32 threads. The buffer is %rd1, the map's address %rd2, the address of 8 KiB of
  /// shared memory %r2 and of an mbarrier for one arrival %r3; %p1 is true in thread 0.
  void run(const TensorMap& map, const std::string& body) {
    const std::string text =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 buffer, .param .align 64 .b8 map[128])\n{\n"
        ".reg .pred %p<8>;\n.reg .b16 %h<4>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<16>;\n"
        ".shared .align 1024 .b8 tile[8192];\n.shared .align 8 .b64 bar;\n"
        "ld.param.u64 %rd1, [buffer];\nmov.b64 %rd2, map;\ncvta.param.u64 %rd2, %rd2;\n"
        "mov.u32 %r1, %tid.x;\nmov.u32 %r2, tile;\nmov.u32 %r3, bar;\n"
        "setp.eq.u32 %p1, %r1, 0;\n@%p1 mbarrier.init.shared.b64 [%r3], 1;\n"
        "fence.mbarrier_init.release.cluster;\nbar.sync 0;\n" +
        body + "\nret;\n}\n";
    Arguments arguments;
    arguments(gpu.address()).bytes.resize(64 + sizeof map);
    std::memcpy(arguments.bytes.data() + 64, &map, sizeof map);
    gpu.launch_kernel(text, "k", grid, {32}, arguments);
  }

  /// Expects `bytes` bytes, lets thread 0 copy, waits, and writes `bytes` bytes of the tile to the
  /// output, from the tile's byte 0 on.
  static std::string load_and_show(const std::string& copy, unsigned bytes) {
    return "mov.u32 %r4, " + std::to_string(bytes) +
           ";\n@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], %r4;\n@%p1 " + copy + R"(
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;
@!%p2 bra WAIT;
)" + show(bytes);
  }
  static std::string show(unsigned bytes) {
    return "mov.u32 %r4, " + std::to_string(bytes) + R"(;
shl.b32 %r5, %r1, 2;
SHOW:
setp.ge.u32 %p3, %r5, %r4;
@%p3 bra DONE;
add.u32 %r6, %r2, %r5;
ld.shared.u32 %r7, [%r6];
cvt.u64.u32 %rd3, %r5;
add.s64 %rd3, %rd1, %rd3;
st.global.u32 [%rd3+8192], %r7;
add.u32 %r5, %r5, 128;
bra SHOW;
DONE:
)";
  }
  std::uint32_t output(unsigned i) { return gpu.word(kOutput + i); }

  SmallGpu gpu{8192};
  Dim3 grid{1};
};

inline const char* const kLoad2d =
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes ";

}  // namespace halfgrad::emulator
