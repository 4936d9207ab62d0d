// wmma.load, wmma.mma and wmma.store of all shapes and layouts against host products.
#include <gtest/gtest.h>

#include <random>

#include "../simt/small_gpu.h"
#include "matrices.h"

namespace halfgrad::emulator {
namespace {

struct WmmaForm {
  unsigned m, n, k;
  ElementType a, b, c, d;
  unsigned a_registers, b_registers, c_registers, d_registers;
  std::string middle, end;  ///< modifiers of wmma.mma before .sync and after the types
};

std::vector<WmmaForm> wmma_forms() {
  std::vector<WmmaForm> all;
  for (const auto& [m, n] : {std::pair{16u, 16u}, {8u, 32u}, {32u, 8u}}) {
    for (const auto& [d, c] : {std::pair{kF32, kF32}, {kF16, kF16}, {kF32, kF16}, {kF16, kF32}}) {
      const auto count = [](const ElementType& type) { return type.bits == 16 ? 4u : 8u; };
      all.push_back({m, n, 16, kF16, kF16, c, d, 8, 8, count(c), count(d), "", ""});
    }
    all.push_back({m, n, 16, kBF16, kBF16, kF32, kF32, m / 4, n / 4, 8, 8, "", ""});
    for (const ElementType& type : {kS8, kU8}) {
      all.push_back({m, n, 16, type, type, kS32, kS32, m / 8, n / 8, 8, 8, "", ""});
    }
  }
  all.push_back({16, 16, 8, kTF32, kTF32, kF32, kF32, 4, 4, 8, 8, "", ""});
  all.push_back({8, 8, 4, kF64, kF64, kF64, kF64, 1, 1, 2, 2, "", ".rn"});
  all.push_back({8, 8, 32, kS4, kS4, kS32, kS32, 1, 1, 2, 2, "", ""});
  all.push_back({8, 8, 32, kU4, kU4, kS32, kS32, 1, 1, 2, 2, "", ""});
  all.push_back({8, 8, 128, kB1, kB1, kS32, kS32, 1, 1, 2, 2, ".xor.popc", ""});
  all.push_back({8, 8, 128, kB1, kB1, kS32, kS32, 1, 1, 2, 2, ".and.popc", ""});
  return all;
}

std::string shape(const WmmaForm& form) {
  return ".m" + std::to_string(form.m) + "n" + std::to_string(form.n) + "k" +
         std::to_string(form.k);
}

/// A matrix in memory, with a leading dimension that is larger than its lines.
struct Stored {
  unsigned begin;  ///< word
  unsigned leading;
  bool by_row;

  std::uint64_t bit(unsigned i, unsigned j, const ElementType& type) const {
    const std::uint64_t element =
        by_row ? std::uint64_t{i} * leading + j : std::uint64_t{j} * leading + i;
    return 32ull * begin + element * type.bits;
  }
};

std::string registers(const std::string& file, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += (i == 0 ? "{%" : ", %") + file + std::to_string(i);
  return text + "}";
}

std::string file_of(const std::string& role, const ElementType& type) {
  return (type.name == "f64" ? "x" : type.name == "f32" ? "y" : "z") + role;
}

class WmmaRun {
 public:
  WmmaRun(const WmmaForm& form, bool a_by_row, bool b_by_row, bool c_by_row)
      : form_(form), gpu_(1 << 14) {
    const auto stored = [](unsigned begin, unsigned rows, unsigned columns, bool by_row,
                           const ElementType& type) {
      return Stored{begin, (by_row ? columns : rows) + 256 / type.bits, by_row};
    };
    a = stored(0, form.m, form.k, a_by_row, form.a);
    b = stored(4096, form.k, form.n, b_by_row, form.b);
    c = stored(8192, form.m, form.n, c_by_row, form.c);
    d = stored(12288, form.m, form.n, c_by_row, form.d);
  }

  void put(const Stored& to, const ElementType& type, const HostMatrix& matrix) {
    for (unsigned i = 0; i < matrix.rows; ++i) {
      for (unsigned j = 0; j < matrix.columns; ++j) {
        put_bits(&gpu_.word(0), to.bit(i, j, type), type.bits, type.encode(matrix.at(i, j)));
      }
    }
  }
  double result(unsigned i, unsigned j) {
    return form_.d.decode(get_bits(&gpu_.word(0), d.bit(i, j, form_.d), form_.d.bits));
  }

  void run() {
    std::string body;
    for (const char* role : {"a", "b", "c", "d"}) {
      body += std::string(".reg .f64 %x") + role + "<9>;\n.reg .f32 %y" + role +
              "<9>;\n.reg .b32 %z" + role + "<9>;\n";
    }
    body += load("a", a, form_.a, form_.a_registers) + load("b", b, form_.b, form_.b_registers) +
            load("c", c, form_.c, form_.c_registers) + multiply() + address(d) +
            "wmma.store.d.sync.aligned" + order(d) + shape(form_) + ".global." + form_.d.name +
            " [%rd2], " + registers(file_of("d", form_.d), form_.d_registers) + ", " +
            std::to_string(d.leading) + ";\nret;";
    gpu_.launch(kernel(body), {}, {32});
  }

  SmallGpu& gpu() { return gpu_; }
  Stored a, b, c, d;

 private:
  static std::string order(const Stored& matrix) { return matrix.by_row ? ".row" : ".col"; }
  static std::string address(const Stored& matrix) {
    return "add.s64 %rd2, %rd1, " + std::to_string(4 * matrix.begin) + ";\n";
  }
  std::string load(const std::string& role, const Stored& matrix, const ElementType& type,
                   unsigned count) const {
    return address(matrix) + "wmma.load." + role + ".sync.aligned" + order(matrix) + shape(form_) +
           ".global." + type.name + " " + registers(file_of(role, type), count) + ", [%rd2], " +
           std::to_string(matrix.leading) + ";\n";
  }
  std::string multiply() const {
    std::string types = "." + form_.d.name;
    if (form_.a.name != "f16") types += "." + form_.a.name + "." + form_.b.name;
    return "wmma.mma" + form_.middle + ".sync.aligned" + order(a) + order(b) + shape(form_) +
           types + "." + form_.c.name + form_.end + " " +
           registers(file_of("d", form_.d), form_.d_registers) + ", " +
           registers(file_of("a", form_.a), form_.a_registers) + ", " +
           registers(file_of("b", form_.b), form_.b_registers) + ", " +
           registers(file_of("c", form_.c), form_.c_registers) + ";\n";
  }

  const WmmaForm& form_;
  SmallGpu gpu_;
};

TEST(Wmma, MultipliesEachShapeInEachLayout) {
  std::mt19937 random(9);
  for (const WmmaForm& form : wmma_forms()) {
    for (unsigned layouts = 0; layouts < 8; ++layouts) {
      const bool a_by_row = (layouts & 1) != 0, b_by_row = (layouts & 2) != 0;
      if (form.a.bits < 8 && (!a_by_row || b_by_row)) continue;
      const HostMatrix a = random_matrix(form.m, form.k, form.a, random),
                       b = random_matrix(form.k, form.n, form.b, random),
                       c = random_matrix(form.m, form.n, form.c, random);
      const HostMatrix expected = product(a, b, c, form.middle == ".xor.popc" ? different : times);
      WmmaRun run(form, a_by_row, b_by_row, (layouts & 4) != 0);
      run.put(run.a, form.a, a);
      run.put(run.b, form.b, b);
      run.put(run.c, form.c, c);
      run.run();
      for (unsigned i = 0; i < form.m; ++i) {
        for (unsigned j = 0; j < form.n; ++j) {
          ASSERT_EQ(run.result(i, j), static_cast<double>(expected.at(i, j)))
              << shape(form) << " of " << form.a.name << " to " << form.d.name << " layouts "
              << layouts << " at " << i << ", " << j;
        }
      }
      EXPECT_TRUE(run.gpu().findings.all().empty()) << shape(form) << " of " << form.a.name;
    }
  }
}

TEST(Wmma, FindsAMisalignedMatrix) {
  SmallGpu gpu;
  gpu.launch(
      kernel("add.s64 %rd2, %rd1, 16;\nwmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r2, "
             "%r3, %r4, %r5, %r6, %r7, %r8, %r9}, [%rd2], 16;\nret;"),
      {}, {32});
  EXPECT_EQ(gpu.found(FindingKind::misaligned).size(), 1u);
  EXPECT_THROW(
      gpu.launch(kernel("add.s64 %rd2, %rd1, 2;\nwmma.load.a.sync.aligned.row.m16n16k16."
                        "global.f16 {%r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9}, [%rd2], 16;\n"
                        "ret;"),
                 {}, {32}),
      KernelAborted);
}

TEST(Wmma, FindsAMatrixThatReachesBeyondItsAllocation) {
  SmallGpu gpu(128 - 1);  // 16 x 16 of f16 are 128 words
  EXPECT_THROW(
      gpu.launch(kernel("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r2, %r3, %r4, "
                        "%r5, %r6, %r7, %r8, %r9}, [%rd1], 16;\nret;"),
                 {}, {32}),
      KernelAborted);
  EXPECT_EQ(gpu.found(FindingKind::out_of_bounds).size(), 1u);
}

}  // namespace
}  // namespace halfgrad::emulator
