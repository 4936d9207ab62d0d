// A kernel with one wgmma.mma_async: its operands in shared memory and registers, and its results.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "../simt/small_gpu.h"
#include "matrices.h"
#include "mma_forms.h"

namespace halfgrad::emulator {

inline constexpr unsigned kWgmmaRows = 64, kWgmmaThreads = 128;
inline constexpr unsigned kWgmmaBeginOfB = 16384, kWgmmaSharedBytes = 49152;  // in shared memory
inline constexpr unsigned kWgmmaSharedWords = kWgmmaSharedBytes / 4;
inline constexpr unsigned kWgmmaFragmentA = kWgmmaSharedWords,
                          kWgmmaFragmentD =
                              kWgmmaFragmentA + kWgmmaThreads * 4;  // words in the buffer

struct WgmmaForm {
  ElementType a, b, d;
  unsigned n = 64;
  unsigned swizzle = 0;  ///< bytes
  bool a_in_registers = false, transposed_a = false, transposed_b = false;
  unsigned advance = 0;  ///< bytes along k from the beginning of the swizzle's pattern

  unsigned depth() const { return 256 / a.bits; }
  std::string name() const {
    return "wgmma.mma_async.sync.aligned.m64n" + std::to_string(n) + "k" + std::to_string(depth()) +
           "." + d.name + "." + a.name + "." + b.name + (a.name == "b1" ? ".and.popc" : "");
  }
  std::string text() const {
    return name() + " swizzle " + std::to_string(swizzle) +
           (a_in_registers ? " A in registers" : "") + (transposed_a ? " A transposed" : "") +
           (transposed_b ? " B transposed" : "") + " advanced by " + std::to_string(advance);
  }
};

/// An operand in shared memory. The PTX ISA draws the layouts as rows of 16-byte chunks: in a
/// pattern of 8 rows of S bytes, chunk c of row r stands at place c ^ (r / (128 / S) mod S / 16).
/// Without a swizzle, 8 rows of one chunk are a core matrix.
class SharedOperand {
 public:
  SharedOperand(unsigned begin, unsigned swizzle, bool transposed, unsigned rows, unsigned advance)
      : begin_(begin), swizzle_(swizzle), transposed_(transposed), advance_(advance) {
    const unsigned groups = rows / 8;
    if (swizzle == 0) {  // core matrices: those along m or n first, then the second half of k
      stride_ = 128;
      leading_ = groups * 128;
    } else if (transposed) {  // patterns along k first
      stride_ = 8 * swizzle;
      leading_ = 2 * 8 * swizzle;
    } else {
      stride_ = 8 * swizzle;
    }
  }

  std::uint64_t descriptor() const {
    const std::uint64_t mode = swizzle_ == 0 ? 0 : swizzle_ == 128 ? 1 : swizzle_ == 64 ? 2 : 3;
    return (begin_ + advance_) / 16 | std::uint64_t{leading_ / 16} << 16 |
           std::uint64_t{stride_ / 16} << 32 | mode << 62;
  }
  /// Bit address in shared memory of the element at `row` along m or n and at `k`.
  std::uint64_t bit(unsigned row, unsigned k, unsigned bits) const {
    const unsigned along = transposed_ ? row : k, across = transposed_ ? k : row;
    const unsigned chunk = along * bits / 128, inside = along * bits % 128;
    if (swizzle_ == 0) {
      const unsigned groups = transposed_ ? across / 8 * leading_ + chunk * stride_
                                          : across / 8 * stride_ + chunk * leading_;
      return std::uint64_t{begin_ + groups + across % 8 * 16} * 8 + inside;
    }
    const unsigned per_row = swizzle_ / 16, first = transposed_ ? 0 : advance_ / 16;
    const unsigned pattern =
        transposed_ ? across / 8 * stride_ + chunk / per_row * leading_ : across / 8 * stride_;
    const unsigned place = ((first + chunk) % per_row) ^ (across % 8 / (128 / swizzle_) % per_row);
    return std::uint64_t{begin_ + pattern + across % 8 * swizzle_ + place * 16} * 8 + inside;
  }

 private:
  unsigned begin_, swizzle_;
  bool transposed_;
  unsigned advance_, leading_ = 0, stride_ = 0;
};

inline std::string names(char file, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) {
    text += (i == 0 ? "%" : ", %") + std::string(1, file) + std::to_string(i);
  }
  return text + "}";
}

class WgmmaRun {
 public:
  explicit WgmmaRun(const WgmmaForm& form)
      : form_(form),
        gpu_(1 << 15),
        a_(0, form.swizzle, form.transposed_a, kWgmmaRows, form.advance),
        b_(kWgmmaBeginOfB, form.swizzle, form.transposed_b, form.n, form.advance) {}

  unsigned registers_of_d() const { return form_.n / 8 * 4 * form_.d.bits / 32; }

  void put(const HostMatrix& a, const HostMatrix& b, const HostMatrix& d) {
    for (unsigned k = 0; k < form_.depth(); ++k) {
      for (unsigned i = 0; i < kWgmmaRows; ++i)
        put_bits_of(a_.bit(i, k, form_.a.bits), form_.a, a.at(i, k));
      for (unsigned j = 0; j < form_.n; ++j) {
        put_bits_of(b_.bit(j, k, form_.b.bits), form_.b, b.at(k, j));
      }
    }
    const Layout place_a = a_of(form_.a.name == "b1" ? 32 : 32 / form_.a.bits);
    for (unsigned thread = 0; thread < kWgmmaThreads; ++thread) {
      const unsigned first = thread / 32 * 16, lane = thread % 32;
      for (unsigned i = 0; i < 128 / form_.a.bits && form_.a_in_registers; ++i) {
        const Place at = place_a(lane / 4, lane % 4, i);
        put_bits(&gpu_.word(kWgmmaFragmentA + thread * 4), std::uint64_t{i} * form_.a.bits,
                 form_.a.bits, form_.a.encode(a.at(first + at.row, at.column)));
      }
      for (unsigned i = 0; i < form_.n / 2; ++i) {
        put_bits(&gpu_.word(kWgmmaFragmentD + thread * 128), std::uint64_t{i} * form_.d.bits,
                 form_.d.bits,
                 form_.d.encode(d.at(first + row_of_d(lane, i), column_of_d(lane, i))));
      }
    }
  }

  double result(unsigned row, unsigned column) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = column / 8 * 4; i < column / 8 * 4 + 4; ++i) {
        if (row_of_d(lane, i) != row % 16 || column_of_d(lane, i) != column) continue;
        return form_.d.decode(get_bits(&gpu_.word(kWgmmaFragmentD + (row / 16 * 32 + lane) * 128),
                                       std::uint64_t{i} * form_.d.bits, form_.d.bits));
      }
    }
    return -1;
  }

  /// WgmmaOperands after B of the statement, such as ", p, 1, 1, 0, 0".
  std::string rest(const std::string& scale_d, int scale_a = 1, int scale_b = 1) const {
    std::string text = ", " + scale_d;
    if (form_.a.is_float) text += ", " + std::to_string(scale_a) + ", " + std::to_string(scale_b);
    if (form_.a.bits == 16) {
      if (!form_.a_in_registers) text += form_.transposed_a ? ", 1" : ", 0";
      text += form_.transposed_b ? ", 1" : ", 0";
    }
    return text + ";\n";
  }
  std::string statement(const std::string& operands_after_b) const {
    return form_.name() + " " + names('d', registers_of_d()) + ", " +
           (form_.a_in_registers ? names('a', 4) : "%rd4") + ", %rd5" + operands_after_b;
  }

  /// Copies the image to shared memory, runs `body` with %d and %a loaded, stores %d.
  LaunchCounters run(const std::string& body, unsigned threads = kWgmmaThreads) {
    const auto number = [](std::uint64_t x) { return std::to_string(x); };
    std::string text =
        ".reg .b32 %d<128>, %a<4>;\n.reg .pred %s;\nmov.u32 %r2, %r1;\n"
        "mov.u32 %r10, tile;\nCOPY:\nmul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
        "ld.global.u32 %r3, [%rd3];\nmad.lo.s32 %r4, %r2, 4, %r10;\nst.shared.u32 [%r4], %r3;\n"
        "add.s32 %r2, %r2, " +
        number(threads) + ";\nsetp.lt.u32 %p1, %r2, " + number(kWgmmaSharedWords) +
        ";\n@%p1 bra COPY;\nfence.proxy.async;\nbar.sync 0;\n"
        "mul.wide.u32 %rd6, %r1, 512;\nadd.s64 %rd6, %rd6, %rd1;\n"
        "mul.wide.u32 %rd7, %r1, 16;\nadd.s64 %rd7, %rd7, %rd1;\n"
        "mov.u64 %rd4, " +
        number(a_.descriptor()) + ";\nmov.u64 %rd5, " + number(b_.descriptor()) + ";\n";
    for (unsigned i = 0; i < registers_of_d(); ++i) {
      text += "ld.global.u32 %d" + number(i) + ", [%rd6+" + number(kWgmmaFragmentD * 4 + 4 * i) +
              "];\n";
    }
    for (unsigned i = 0; i < 4; ++i) {
      text += "ld.global.u32 %a" + number(i) + ", [%rd7+" + number(kWgmmaFragmentA * 4 + 4 * i) +
              "];\n";
    }
    text += body;
    for (unsigned i = 0; i < registers_of_d(); ++i) {
      text += "st.global.u32 [%rd6+" + number(kWgmmaFragmentD * 4 + 4 * i) + "], %d" + number(i) +
              ";\n";
    }
    return gpu_.launch(
        kernel(text + "ret;", ".shared .align 1024 .b8 tile[" + number(kWgmmaSharedBytes) + "];\n"),
        {}, {threads});
  }

  SmallGpu& gpu() { return gpu_; }

 private:
  static unsigned row_of_d(unsigned lane, unsigned i) { return lane / 4 + i / 2 % 2 * 8; }
  static unsigned column_of_d(unsigned lane, unsigned i) {
    return i / 4 * 8 + lane % 4 * 2 + i % 2;
  }
  void put_bits_of(std::uint64_t bit, const ElementType& type, std::int64_t value) {
    put_bits(&gpu_.word(0), bit, type.bits, type.encode(value));
  }

  WgmmaForm form_;
  SmallGpu gpu_;
  SharedOperand a_, b_;
};

inline const std::string kWgmmaFence = "wgmma.fence.sync.aligned;\n";
inline const std::string kWgmmaCommit = "wgmma.commit_group.sync.aligned;\n";
inline const std::string kWgmmaWait = "wgmma.wait_group.sync.aligned 0;\n";

struct WgmmaOperands {
  HostMatrix a, b, d;
  HostMatrix expected;

  explicit WgmmaOperands(const WgmmaForm& form, unsigned seed = 5)
      : a(kWgmmaRows, form.depth()),
        b(form.depth(), form.n),
        d(kWgmmaRows, form.n),
        expected(kWgmmaRows, form.n) {
    std::mt19937 random(seed);
    a = random_matrix(kWgmmaRows, form.depth(), form.a, random);
    b = random_matrix(form.depth(), form.n, form.b, random);
    d = random_matrix(kWgmmaRows, form.n, form.d, random);
    expected = product(a, b, d, times);
  }
};

inline void expect_results(WgmmaRun& run, const HostMatrix& expected, const WgmmaForm& form) {
  for (unsigned i = 0; i < kWgmmaRows; ++i) {
    for (unsigned j = 0; j < form.n; ++j) {
      ASSERT_EQ(run.result(i, j), static_cast<double>(expected.at(i, j)))
          << form.text() << " row " << i << " column " << j;
    }
  }
}

inline void expect_product(const WgmmaForm& form) {
  const WgmmaOperands operands(form);
  WgmmaRun run(form);
  run.put(operands.a, operands.b, operands.d);
  const LaunchCounters counters =
      run.run(kWgmmaFence + run.statement(run.rest("1")) + kWgmmaCommit + kWgmmaWait);
  expect_results(run, operands.expected, form);
  EXPECT_EQ(counters.total().flops, 2ull * kWgmmaRows * form.n * form.depth()) << form.text();
  EXPECT_TRUE(run.gpu().findings.all().empty()) << form.text();
}

inline const WgmmaForm kWgmmaHalfForm{.a = kF16, .b = kF16, .d = kF32, .swizzle = 128};

}  // namespace halfgrad::emulator
