// mma.sync of all shapes against host products.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "../simt/small_gpu.h"
#include "matrices.h"
#include "mma_forms.h"

namespace halfgrad::emulator {
namespace {

std::string text_of(const MmaForm& form) {
  const auto number = [](unsigned x) { return std::to_string(x); };
  std::string text = "mma.sync.aligned.m" + number(form.m) + "n" + number(form.n) + "k" +
                     number(form.k) + ".row.col." + form.d.name + "." + form.a.name + "." +
                     form.b.name + "." + form.c.name;
  return form.a.name == "b1" ? text + form.name : text;
}

/// One operand's fragment in memory, where the words of a lane are contiguous.
struct FragmentMemory {
  unsigned elements, words, begin;
  char file;  ///< first letter of the registers' names
};

class MmaRun {
 public:
  explicit MmaRun(const MmaForm& form) : form_(form), gpu_(1 << 14) {
    d_ = fragment(form.m * form.n, form.d, 'd');
    a_ = fragment(form.m * form.k, form.a, 'a');
    b_ = fragment(form.k * form.n, form.b, 'b');
    c_ = fragment(form.m * form.n, form.c, 'c');
  }

  void put(const FragmentMemory& to, const ElementType& type, const Layout& place,
           const HostMatrix& matrix) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = 0; i < to.elements; ++i) {
        const Place at = place(lane / 4, lane % 4, i);
        put_bits(&gpu_.word(to.begin + lane * to.words), std::uint64_t{i} * type.bits, type.bits,
                 type.encode(matrix.at(at.row, at.column)));
      }
    }
  }
  double result(unsigned lane, unsigned i) {
    return form_.d.decode(get_bits(&gpu_.word(d_.begin + lane * d_.words),
                                   std::uint64_t{i} * form_.d.bits, form_.d.bits));
  }
  std::uint32_t& word(const FragmentMemory& fragment, unsigned lane, unsigned i) {
    return gpu_.word(fragment.begin + lane * fragment.words + i);
  }

  LaunchCounters run(const std::string& instruction) {
    std::string body = ".reg .b32 %a<16>, %b<16>;\n.reg .f64 %da<16>, %db<16>, %dc<4>, %dd<4>;\n";
    body += form_.c.name == "f32" ? ".reg .f32 %c<8>;\n" : ".reg .b32 %c<8>;\n";
    body += form_.d.name == "f32" ? ".reg .f32 %d<8>;\n" : ".reg .b32 %d<8>;\n";
    for (const FragmentMemory* one : {&a_, &b_, &c_}) body += moves("ld", *one);
    body += instruction + " {" + names(d_) + "}, {" + names(a_) + "}, {" + names(b_) + "}, {" +
            names(c_) + "};\n" + moves("st", d_) + "ret;";
    return gpu_.launch(kernel(body), {}, {32});
  }

  SmallGpu& gpu() { return gpu_; }
  FragmentMemory d_, a_, b_, c_;

 private:
  FragmentMemory fragment(unsigned elements, const ElementType& type, char file) {
    const FragmentMemory made{elements / 32, elements / 32 * type.bits / 32, next_, file};
    next_ += made.words * 32;
    return made;
  }
  bool wide() const { return form_.a.name == "f64"; }
  std::string name(const FragmentMemory& fragment, unsigned i) const {
    return std::string(wide() ? "%d" : "%") + fragment.file + std::to_string(i);
  }
  unsigned registers(const FragmentMemory& fragment) const {
    return wide() ? fragment.words / 2 : fragment.words;
  }
  std::string names(const FragmentMemory& fragment) const {
    std::string text;
    for (unsigned i = 0; i < registers(fragment); ++i) {
      text += (i == 0 ? "" : ", ") + name(fragment, i);
    }
    return text;
  }
  std::string moves(const std::string& way, const FragmentMemory& fragment) const {
    std::string text = "mul.wide.u32 %rd2, %r1, " + std::to_string(4 * fragment.words) +
                       ";\nadd.s64 %rd3, %rd1, %rd2;\n";
    for (unsigned i = 0; i < registers(fragment); ++i) {
      const unsigned offset = 4 * fragment.begin + (wide() ? 8 : 4) * i;
      const std::string address = "[%rd3+" + std::to_string(offset) + "]";
      const std::string type = wide() ? ".f64 " : ".b32 ";
      text += way == "ld" ? "ld.global" + type + name(fragment, i) + ", " + address + ";\n"
                          : "st.global" + type + address + ", " + name(fragment, i) + ";\n";
    }
    return text;
  }

  const MmaForm& form_;
  SmallGpu gpu_;
  unsigned next_ = 0;
};

TEST(Mma, MultipliesEachShape) {
  std::mt19937 random(5);
  for (const MmaForm& form : forms()) {
    const std::string text = text_of(form);
    const HostMatrix a = random_matrix(form.m, form.k, form.a, random),
                     b = random_matrix(form.k, form.n, form.b, random),
                     c = random_matrix(form.m, form.n, form.c, random);
    const HostMatrix expected = product(a, b, c, form.name == ".xor.popc" ? different : times);
    MmaRun run(form);
    run.put(run.a_, form.a, form.place_a, a);
    run.put(run.b_, form.b, form.place_b, b);
    run.put(run.c_, form.c, form.place_c, c);
    const LaunchCounters counters = run.run(text);
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = 0; i < run.d_.elements; ++i) {
        const Place at = form.place_c(lane / 4, lane % 4, i);
        ASSERT_EQ(run.result(lane, i), static_cast<double>(expected.at(at.row, at.column)))
            << text << " lane " << lane << " element " << i;
      }
    }
    EXPECT_EQ(counters.total().flops, 2ull * form.m * form.n * form.k) << text;
    EXPECT_TRUE(run.gpu().findings.all().empty()) << text;
  }
}

const MmaForm kHalfForm{"f16", 16, 8, 16, kF16, kF16, kF16, kF16, a_of(2), b_of(2), accumulators};

TEST(Mma, RoundsASumOnce) {
  // 2048 + 1 + 1 is 2050 in f16, though 2048 + 1 rounds to 2048.
  MmaRun run(kHalfForm);
  HostMatrix a(16, 16), b(16, 8), c(16, 8);
  for (unsigned i = 0; i < 16; ++i) a.at(i, 0) = a.at(i, 1) = 1;
  for (unsigned j = 0; j < 8; ++j) b.at(0, j) = b.at(1, j) = 1;
  for (std::int64_t& one : c.values) one = 2048;
  run.put(run.a_, kF16, kHalfForm.place_a, a);
  run.put(run.b_, kF16, kHalfForm.place_b, b);
  run.put(run.c_, kF16, kHalfForm.place_c, c);
  run.run(text_of(kHalfForm));
  EXPECT_EQ(run.result(0, 0), 2050);
}

TEST(Mma, GivesTheCanonicalNan) {
  MmaRun run(kHalfForm);
  for (unsigned lane = 0; lane < 32; ++lane) run.word(run.c_, lane, 0) = 0xfe01fe01;
  run.run(text_of(kHalfForm));
  EXPECT_EQ(run.word(run.d_, 3, 0), 0x7fff7fffu);
}

/// A value of 8 bits with 3 or 2 bits of fraction.
double value_of_8_bits(unsigned bits, int fraction_bits) {
  const int exponent = static_cast<int>(bits & 0x7f) >> fraction_bits;
  const int bias = fraction_bits == 3 ? 7 : 15;
  const double fraction = std::ldexp(bits & ((1u << fraction_bits) - 1), -fraction_bits);
  const bool top = fraction_bits == 3 ? (bits & 0x7f) == 0x7f : exponent == 31;
  double value =
      exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  if (top) value = fraction != 0 ? NAN : INFINITY;
  return (bits & 0x80) != 0 ? -value : value;
}

TEST(Mma, ReadsEveryValueOf8Bits) {
  // Row 0 of A has one element that is not 0; B has ones.
  for (const ElementType& type : {kE4M3, kE5M2}) {
    const MmaForm form{"8", 16, 8, 16, type, kE4M3, kF32, kF32, a_of(4), b_of(4), accumulators};
    for (unsigned bits = 0; bits < 256; ++bits) {
      MmaRun run(form);
      for (unsigned lane = 0; lane < 32; ++lane) run.word(run.b_, lane, 0) = 0x38383838;
      run.word(run.a_, 0, 0) = bits;
      run.run(text_of(form));
      const float got = std::bit_cast<float>(run.word(run.d_, 0, 0));
      const double expected = value_of_8_bits(bits, type.name == "e4m3" ? 3 : 2);
      EXPECT_TRUE(std::isnan(expected) ? std::isnan(got) : got == expected) << type.name << bits;
    }
  }
}

TEST(Mma, OfTf32IgnoresTheLowBits) {
  const MmaForm form{"tf32", 16, 8, 4, kTF32, kTF32, kF32, kF32, a_of(1), b_of(1), accumulators};
  MmaRun run(form);
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 2; ++i) run.word(run.a_, lane, i) = 0x3f801fff;  // 1 and low bits
    run.word(run.b_, lane, 0) = 0x40001000;
  }
  run.run(text_of(form));
  EXPECT_EQ(run.result(0, 0), 8);
}

TEST(Mma, OfIntegersWrapsOrSaturates) {
  const MmaForm form{"8", 16, 8, 16, kS8, kS8, kS32, kS32, a_of(4), b_of(4), accumulators};
  for (const bool saturate : {false, true}) {
    MmaRun run(form);
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = 0; i < 2; ++i) run.word(run.a_, lane, i) = 0x01010101;
      run.word(run.b_, lane, 0) = 0x01010101;
      for (unsigned i = 0; i < 4; ++i) run.word(run.c_, lane, i) = 0x7fffffff;
    }
    run.run(text_of(form) + (saturate ? ".satfinite" : ""));
    EXPECT_EQ(run.word(run.d_, 0, 0), saturate ? 0x7fffffffu : 0x8000000fu);
  }
}

TEST(Mma, FindsAWarpThatIsNotWhole) {
  SmallGpu gpu;
  gpu.launch(kernel("mov.u32 %r2, 0;\nmma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r3, %r4}, "
                    "{%r2, %r2}, {%r2}, {%r2, %r2};\nret;"),
             {}, {16});
  EXPECT_EQ(gpu.found(FindingKind::warp_sync).size(), 1u);
}

TEST(Mma, WithUnknownFormsEndsWithItsText) {
  SmallGpu gpu;
  try {
    gpu.launch(kernel("mov.u32 %r2, 0;\nmma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r3, "
                      "%r4}, {%r2, %r2}, {%r2, %r2}, {%r2, %r2}, %r2, 0x0;\nret;"),
               {}, {32});
    FAIL() << "expected KernelAborted";
  } catch (const KernelAborted& error) {
    EXPECT_EQ(error.kind, FindingKind::unknown_instruction);
  }
}

}  // namespace
}  // namespace halfgrad::emulator
