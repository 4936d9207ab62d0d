// wgmma.mma_async of all types, layouts of shared memory and sources of A, against host products;
// and what its checks find.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "../simt/small_gpu.h"
#include "matrices.h"
#include "mma_forms.h"

namespace halfgrad::emulator {
namespace {

constexpr unsigned kRows = 64, kThreads = 128;
constexpr unsigned kBeginOfB = 16384, kSharedBytes = 49152;  // in shared memory
constexpr unsigned kSharedWords = kSharedBytes / 4;
constexpr unsigned kFragmentA = kSharedWords,
                   kFragmentD = kFragmentA + kThreads * 4;  // words in the buffer

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

std::string names(char file, unsigned count) {
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
        a_(0, form.swizzle, form.transposed_a, kRows, form.advance),
        b_(kBeginOfB, form.swizzle, form.transposed_b, form.n, form.advance) {}

  unsigned registers_of_d() const { return form_.n / 8 * 4 * form_.d.bits / 32; }

  void put(const HostMatrix& a, const HostMatrix& b, const HostMatrix& d) {
    for (unsigned k = 0; k < form_.depth(); ++k) {
      for (unsigned i = 0; i < kRows; ++i)
        put_bits_of(a_.bit(i, k, form_.a.bits), form_.a, a.at(i, k));
      for (unsigned j = 0; j < form_.n; ++j) {
        put_bits_of(b_.bit(j, k, form_.b.bits), form_.b, b.at(k, j));
      }
    }
    const Layout place_a = a_of(form_.a.name == "b1" ? 32 : 32 / form_.a.bits);
    for (unsigned thread = 0; thread < kThreads; ++thread) {
      const unsigned first = thread / 32 * 16, lane = thread % 32;
      for (unsigned i = 0; i < 128 / form_.a.bits && form_.a_in_registers; ++i) {
        const Place at = place_a(lane / 4, lane % 4, i);
        put_bits(&gpu_.word(kFragmentA + thread * 4), std::uint64_t{i} * form_.a.bits, form_.a.bits,
                 form_.a.encode(a.at(first + at.row, at.column)));
      }
      for (unsigned i = 0; i < form_.n / 2; ++i) {
        put_bits(&gpu_.word(kFragmentD + thread * 128), std::uint64_t{i} * form_.d.bits,
                 form_.d.bits,
                 form_.d.encode(d.at(first + row_of_d(lane, i), column_of_d(lane, i))));
      }
    }
  }

  double result(unsigned row, unsigned column) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = column / 8 * 4; i < column / 8 * 4 + 4; ++i) {
        if (row_of_d(lane, i) != row % 16 || column_of_d(lane, i) != column) continue;
        return form_.d.decode(get_bits(&gpu_.word(kFragmentD + (row / 16 * 32 + lane) * 128),
                                       std::uint64_t{i} * form_.d.bits, form_.d.bits));
      }
    }
    return -1;
  }

  /// Operands after B of the statement, such as ", p, 1, 1, 0, 0".
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
  LaunchCounters run(const std::string& body, unsigned threads = kThreads) {
    const auto number = [](std::uint64_t x) { return std::to_string(x); };
    std::string text =
        ".reg .b32 %d<128>, %a<4>;\n.reg .pred %s;\nmov.u32 %r2, %r1;\n"
        "mov.u32 %r10, tile;\nCOPY:\nmul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
        "ld.global.u32 %r3, [%rd3];\nmad.lo.s32 %r4, %r2, 4, %r10;\nst.shared.u32 [%r4], %r3;\n"
        "add.s32 %r2, %r2, " +
        number(threads) + ";\nsetp.lt.u32 %p1, %r2, " + number(kSharedWords) +
        ";\n@%p1 bra COPY;\nfence.proxy.async;\nbar.sync 0;\n"
        "mul.wide.u32 %rd6, %r1, 512;\nadd.s64 %rd6, %rd6, %rd1;\n"
        "mul.wide.u32 %rd7, %r1, 16;\nadd.s64 %rd7, %rd7, %rd1;\n"
        "mov.u64 %rd4, " +
        number(a_.descriptor()) + ";\nmov.u64 %rd5, " + number(b_.descriptor()) + ";\n";
    for (unsigned i = 0; i < registers_of_d(); ++i) {
      text += "ld.global.u32 %d" + number(i) + ", [%rd6+" + number(kFragmentD * 4 + 4 * i) + "];\n";
    }
    for (unsigned i = 0; i < 4; ++i) {
      text += "ld.global.u32 %a" + number(i) + ", [%rd7+" + number(kFragmentA * 4 + 4 * i) + "];\n";
    }
    text += body;
    for (unsigned i = 0; i < registers_of_d(); ++i) {
      text += "st.global.u32 [%rd6+" + number(kFragmentD * 4 + 4 * i) + "], %d" + number(i) + ";\n";
    }
    return gpu_.launch(
        kernel(text + "ret;", ".shared .align 1024 .b8 tile[" + number(kSharedBytes) + "];\n"), {},
        {threads});
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

const std::string kFence = "wgmma.fence.sync.aligned;\n";
const std::string kCommit = "wgmma.commit_group.sync.aligned;\n";
const std::string kWait = "wgmma.wait_group.sync.aligned 0;\n";

struct Operands {
  HostMatrix a, b, d;
  HostMatrix expected;

  explicit Operands(const WgmmaForm& form, unsigned seed = 5)
      : a(kRows, form.depth()), b(form.depth(), form.n), d(kRows, form.n), expected(kRows, form.n) {
    std::mt19937 random(seed);
    a = random_matrix(kRows, form.depth(), form.a, random);
    b = random_matrix(form.depth(), form.n, form.b, random);
    d = random_matrix(kRows, form.n, form.d, random);
    expected = product(a, b, d, times);
  }
};

void expect_results(WgmmaRun& run, const HostMatrix& expected, const WgmmaForm& form) {
  for (unsigned i = 0; i < kRows; ++i) {
    for (unsigned j = 0; j < form.n; ++j) {
      ASSERT_EQ(run.result(i, j), static_cast<double>(expected.at(i, j)))
          << form.text() << " row " << i << " column " << j;
    }
  }
}

void expect_product(const WgmmaForm& form) {
  const Operands operands(form);
  WgmmaRun run(form);
  run.put(operands.a, operands.b, operands.d);
  const LaunchCounters counters = run.run(kFence + run.statement(run.rest("1")) + kCommit + kWait);
  expect_results(run, operands.expected, form);
  EXPECT_EQ(counters.total().flops, 2ull * kRows * form.n * form.depth()) << form.text();
  EXPECT_TRUE(run.gpu().findings.all().empty()) << form.text();
}

std::vector<WgmmaForm> types() {
  return {{kF16, kF16, kF32},   {kF16, kF16, kF16},   {kBF16, kBF16, kF32},
          {kTF32, kTF32, kF32}, {kE4M3, kE5M2, kF32}, {kE5M2, kE4M3, kF16},
          {kS8, kU8, kS32},     {kU8, kS8, kS32},     {kB1, kB1, kS32}};
}

TEST(Wgmma, MultipliesEachTypeInEachLayout) {
  for (WgmmaForm form : types()) {
    for (const unsigned swizzle : {0u, 32u, 64u, 128u}) {
      for (const bool in_registers : {false, true}) {
        form.swizzle = swizzle;
        form.a_in_registers = in_registers;
        ASSERT_NO_FATAL_FAILURE(expect_product(form));
      }
    }
  }
}

TEST(Wgmma, MultipliesTransposedOperands) {
  for (const ElementType& type : {kF16, kBF16}) {
    for (const unsigned swizzle : {0u, 32u, 64u, 128u}) {
      for (const unsigned which : {1u, 2u, 3u}) {
        ASSERT_NO_FATAL_FAILURE(expect_product({.a = type,
                                                .b = type,
                                                .d = kF32,
                                                .swizzle = swizzle,
                                                .transposed_a = (which & 1) != 0,
                                                .transposed_b = (which & 2) != 0}));
      }
      ASSERT_NO_FATAL_FAILURE(expect_product({.a = type,
                                              .b = type,
                                              .d = kF32,
                                              .swizzle = swizzle,
                                              .a_in_registers = true,
                                              .transposed_b = true}));
    }
  }
}

TEST(Wgmma, HasFrom8To256Columns) {
  for (WgmmaForm form : types()) {
    for (const unsigned n : {8u, 24u, 128u, 256u}) {
      form.n = n;
      form.swizzle = 128;
      ASSERT_NO_FATAL_FAILURE(expect_product(form));
    }
  }
}

// A loop over k moves the descriptor inside the pattern of the swizzle, by 32 bytes a step.
TEST(Wgmma, SwizzlesByTheAddressAndNotByTheDistanceFromTheStart) {
  for (const unsigned swizzle : {64u, 128u}) {
    for (unsigned advance = 32; advance < swizzle; advance += 32) {
      ASSERT_NO_FATAL_FAILURE(expect_product(
          {.a = kF16, .b = kF16, .d = kF32, .swizzle = swizzle, .advance = advance}));
    }
  }
}

const WgmmaForm kHalfForm{.a = kF16, .b = kF16, .d = kF32, .swizzle = 128};

TEST(Wgmma, StartsFromZeroIfScaleDIsFalse) {
  const Operands operands(kHalfForm);
  HostMatrix zeros(kRows, kHalfForm.n);
  const HostMatrix without = product(operands.a, operands.b, zeros, times);
  for (const char* scale : {"0", "%s", "!%s"}) {
    WgmmaRun run(kHalfForm);
    run.put(operands.a, operands.b, operands.d);
    const std::string set = std::string("setp.ne.u32 %s, 1, ") + (scale[0] == '!' ? "0" : "1");
    run.run(set + ";\n" + kFence + run.statement(run.rest(scale)) + kCommit + kWait);
    ASSERT_NO_FATAL_FAILURE(expect_results(run, without, kHalfForm)) << scale;
  }
}

TEST(Wgmma, NegatesOperands) {
  for (const int scale_a : {1, -1}) {
    for (const int scale_b : {1, -1}) {
      const Operands operands(kHalfForm);
      HostMatrix a = operands.a;
      for (std::int64_t& one : a.values) one *= scale_a * scale_b;
      WgmmaRun run(kHalfForm);
      run.put(operands.a, operands.b, operands.d);
      run.run(kFence + run.statement(run.rest("1", scale_a, scale_b)) + kCommit + kWait);
      ASSERT_NO_FATAL_FAILURE(
          expect_results(run, product(a, operands.b, operands.d, times), kHalfForm));
    }
  }
}

TEST(Wgmma, SaturatesIntegers) {
  const WgmmaForm form{.a = kS8, .b = kS8, .d = kS32};
  Operands operands(form);
  for (std::int64_t& one : operands.d.values) one = 0x7fffffff;
  WgmmaRun run(form);
  run.put(operands.a, operands.b, operands.d);
  std::string text = run.statement(run.rest("1"));
  text.insert(text.find(".s8.s8") + 6, ".satfinite");
  run.run(kFence + text + kCommit + kWait);
  const HostMatrix sums = product(operands.a, operands.b, HostMatrix(kRows, form.n), times);
  for (unsigned i = 0; i < kRows; ++i) {
    const double sum = static_cast<double>(sums.at(i, 0));
    ASSERT_EQ(run.result(i, 0), 0x7fffffff + std::min(sum, 0.0)) << i;
  }
}

// ---- Checks

/// The findings of a kernel whose body is made from the product's statement.
template <class F>
std::vector<Finding> findings_of(F body, unsigned threads = kThreads) {
  const Operands operands(kHalfForm);
  WgmmaRun run(kHalfForm);
  run.gpu().settings.check_race = run.gpu().settings.check_init = true;
  run.put(operands.a, operands.b, operands.d);
  try {
    run.run(body(run.statement(run.rest("1"))), threads);
  } catch (const KernelAborted&) {
  }
  return run.gpu().findings.all();
}

/// Thread 127 stores to B, which every warp reads.
const std::string kStoreToB = "setp.eq.u32 %p2, %r1, 127;\n@%p2 st.shared.u32 [tile+" +
                              std::to_string(kBeginOfB) + "], %r1;\n";

TEST(WgmmaChecks, AreSilentAboutAStoreThatTheWaitPrecedes) {
  const auto found = findings_of([](const std::string& product) {
    return kFence + product + kCommit + kWait + "bar.sync 0;\n" + kStoreToB;
  });
  EXPECT_TRUE(found.empty()) << to_string(found.front());
}

TEST(WgmmaChecks, FindAStoreThatMeetsAProductUnderWay) {
  const auto found = findings_of([](const std::string& product) {
    return kFence + product + kCommit + "bar.sync 0;\n" + kStoreToB + kWait;
  });
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().kind, FindingKind::race);
  EXPECT_NE(found.front().instruction.find("st.shared"), std::string::npos);
}

TEST(WgmmaChecks, FindAStoreThatNoBarrierOrders) {
  const auto found = findings_of(
      [](const std::string& product) { return kStoreToB + kFence + product + kCommit + kWait; });
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().kind, FindingKind::race);
}

// fence.proxy.async may come from the thread that stores, or from the readers after a barrier.
TEST(WgmmaChecks, FindAStoreWithoutAFenceOfTheAsynchronousProxy) {
  const std::string barrier = "bar.sync 0;\n", fence = "fence.proxy.async;\n";
  const auto found_after = [](const std::string& order) {
    return findings_of([&](const std::string& product) {
      return kStoreToB + order + kFence + product + kCommit + kWait;
    });
  };
  EXPECT_TRUE(found_after(fence + barrier).empty());
  EXPECT_TRUE(found_after(barrier + fence).empty());
  EXPECT_TRUE(found_after("fence.proxy.async.shared::cta;\n" + barrier).empty());
  const auto found = found_after(barrier);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().kind, FindingKind::race);
  EXPECT_NE(found.front().message.find("fence.proxy.async"), std::string::npos);
  EXPECT_NE(found.front().other.find("a store by thread (127,0,0)"), std::string::npos);
}

TEST(WgmmaChecks, FindAMissingFence) {
  const auto found =
      findings_of([](const std::string& product) { return product + kCommit + kWait; });
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found.front().message.find("without wgmma.fence"), std::string::npos);
}

TEST(WgmmaChecks, FindAProductThatNothingWaitsFor) {
  for (const std::string& end :
       {std::string(), kCommit, kCommit + "wgmma.wait_group.sync.aligned 1;\n"}) {
    const auto found =
        findings_of([&](const std::string& product) { return kFence + product + end; });
    ASSERT_EQ(found.size(), 1u) << end;
    EXPECT_EQ(found.front().kind, FindingKind::async_copy);
    EXPECT_NE(found.front().message.find("wgmma.wait_group"), std::string::npos);
  }
}

TEST(WgmmaChecks, FindABlockThatIsNoMultipleOfAWarpgroup) {
  const auto found = findings_of(
      [](const std::string& product) { return kFence + product + kCommit + kWait; }, 96);
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found.front().message.find("a warpgroup of 4 warps"), std::string::npos);
}

TEST(WgmmaChecks, FindAWarpOfTheGroupThatMissesAProduct) {
  const auto found = findings_of([](const std::string& product) {
    return kFence + product + kCommit + kWait + "setp.lt.u32 %p3, %r1, 96;\n@!%p3 bra SKIP;\n" +
           product + kCommit + kWait + "SKIP:\n";
  });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().kind, FindingKind::warp_sync);
  EXPECT_NE(found.front().message.find("warps of its warpgroup"), std::string::npos);
}

TEST(WgmmaChecks, FindDescriptorsThatDifferAmongLanes) {
  const auto found = findings_of([](const std::string& product) {
    return "setp.eq.u32 %p3, %r1, 3;\n@%p3 add.s64 %rd5, %rd5, 2;\n" + kFence + product + kCommit +
           kWait;
  });
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found.front().message.find("descriptor differs"), std::string::npos);
}

TEST(WgmmaChecks, FindAMatrixBeyondSharedMemory) {
  const auto found = findings_of([](const std::string& product) {
    return "add.s64 %rd5, %rd5, 2048;\n" + kFence + product + kCommit + kWait;
  });
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().kind, FindingKind::out_of_bounds);
}

}  // namespace
}  // namespace halfgrad::emulator
