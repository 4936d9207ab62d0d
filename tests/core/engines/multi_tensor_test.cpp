#include <halfgrad/core/engines/multi_tensor.h>

#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/tests/devices.h>

namespace halfgrad::detail {
namespace {

// a = a + factor * b, where the factor is read from memory.
struct AddScaled {
  static constexpr unsigned kWrites = 1;

  double factor;

  template <class T>
  HG_HD void operator()(T& a, T b) const {
    a = a + T(factor) * b;
  }
};

struct AddScaledFrom {
  const float* factor;

  HG_HD AddScaled make() const { return {*factor}; }
};

using Updates = std::vector<TensorUpdate<AddScaledFrom, 2>>;

Array counting(std::int64_t size, DType dtype) {
  const Array array = Array::empty({size}, DType::f64);
  for (std::int64_t i = 0; i < size; ++i) array.data_as<double>()[i] = static_cast<double>(i % 64);
  return array.to(dtype);
}

double element(const Array& array, std::int64_t index) { return array.select(0, index).item(); }

class MultiTensorOn : public OnDevice {
 protected:
  Array number(double value) const { return Array::full({}, value, DType::f32, device()); }
  Array there(const Array& array) const { return array.to(device()); }
};
HALFGRAD_ON_DEVICES(MultiTensorOn);

TEST(MultiTensor, ChunksCoverEveryElementOnce) {
  const std::vector<std::int64_t> sizes{0, 1, 3 * 16 * kTile, 16 * kTile + 1, 5};
  std::vector<std::int64_t> covered(sizes.size());
  for (const Chunk& chunk : chunks_of(sizes)) {
    EXPECT_EQ(chunk.begin, covered[chunk.index]);
    EXPECT_LT(chunk.begin, chunk.end);
    covered[chunk.index] = chunk.end;
  }
  EXPECT_EQ(covered, sizes);
}

TEST_P(MultiTensorOn, TakesAnySizesAndDtypesInOnePass) {
  const Array factor = number(2);
  std::vector<Array> targets, sources;
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    for (const std::int64_t size : {0, 1, 7, 64, 1000, 40001}) {
      targets.push_back(there(counting(size, dtype)));
      sources.push_back(there(counting(size, DType::f32)));
    }
  }
  Updates updates;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    updates.push_back({{factor.data_as<float>()}, {&targets[i], &sources[i]}});
  }
  multi_tensor(updates);
  for (const Array& array : targets) {
    const Array target = array.to(Device());
    for (std::int64_t i = 0; i < target.numel(); ++i) {
      ASSERT_EQ(element(target, i), 3.0 * static_cast<double>(i % 64)) << target.dtype();
    }
  }
  for (const Array& source : sources) {
    if (source.numel() <= 5) continue;
    EXPECT_EQ(element(source, 5), 5) << "operands read stay as they are";
  }
}

TEST_P(MultiTensorOn, OperandsBroadcastAndMayBeStrided) {
  const Array factor = number(1);
  const Array target = there(counting(12, DType::f32)).reshape({3, 4}).transpose(0, 1);
  const Array ten = Array::full({}, 10, DType::f64, device());
  multi_tensor(Updates{{{factor.data_as<float>()}, {&target, &ten}}});
  for (std::int64_t i = 0; i < 4; ++i) {
    for (std::int64_t k = 0; k < 3; ++k) {
      EXPECT_EQ(target.select(0, i).select(0, k).item(), static_cast<double>(4 * k + i + 10));
    }
  }
}

// out = 2 * in; does not read out.
struct DoubleAndCount {
  static constexpr unsigned kWrites = 0b01;
  static constexpr unsigned kReads = 0b10;

  double limit;
  std::int64_t* above;

  HG_HD DoubleAndCount make() const { return *this; }

  template <class T>
  HG_HD void operator()(T& out, T in) const {
    out = in + in;
    add_count(above, in > T(limit));
  }
};

TEST_P(MultiTensorOn, CountsAndOverwrites) {
  static_assert(!reads_operand<DoubleAndCount>(0) && reads_operand<DoubleAndCount>(1));
  static_assert(reads_operand<AddScaled>(0), "the default");
  const Array above = there(Array::full({}, 0, DType::i64));
  const Array in = there(counting(40003, DType::f16));
  const Array out = there(Array::full({40003}, __builtin_nan(""), DType::bf16));
  multi_tensor(std::vector<TensorUpdate<DoubleAndCount, 2>>{
      {{60, above.data_as<std::int64_t>()}, {&out, &in}}});
  EXPECT_EQ(above.item(), 3 * (40003 / 64)) << "the last " << 40003 % 64 << " are not";
  EXPECT_EQ(element(out, 40002), 2 * (40002 % 64));
  EXPECT_EQ(element(in, 63), 63);
}

TEST_P(MultiTensorOn, SkipsIfTheFlagIsSet) {
  const Array factor = number(1);
  const Array target = there(counting(9, DType::f32));
  const Updates updates{{{factor.data_as<float>()}, {&target, &target}}};
  for (const float skip : {1.0F, -1.0F, 1e-30F, __builtin_nanf("")}) {
    multi_tensor(updates, number(skip).data_as<float>());
    EXPECT_EQ(element(target, 3), 3) << skip;
  }
  multi_tensor(updates, number(0).data_as<float>());
  EXPECT_EQ(element(target, 3), 6);
}

TEST(MultiTensor, DisjointMemoryNeedsOnePass) {
  EXPECT_TRUE(passes_of({}, 0).empty());
  EXPECT_TRUE(passes_of({{16, 32, 0}, {0, 16, 1}, {32, 40, 2}}, 3).empty());
}

TEST(MultiTensor, OverlappingMemoryNeedsSuccessivePasses) {
  using Passes = std::vector<std::size_t>;
  EXPECT_EQ(passes_of({{8, 16, 0}, {8, 16, 1}, {0, 8, 2}, {8, 16, 3}}, 4), (Passes{0, 1, 0, 2}));
  EXPECT_EQ(passes_of({{0, 64, 0}, {8, 16, 1}, {32, 40, 2}}, 3), (Passes{0, 1, 2}))
      << "all within one";
  EXPECT_EQ(passes_of({{0, 8, 0}, {8, 16, 1}, {8, 16, 0}, {16, 24, 1}, {16, 24, 2}}, 3),
            (Passes{0, 1, 2}))
      << "updates that write several";
}

TEST_P(MultiTensorOn, OverlappingUpdatesRunInListOrder) {
  const Array whole = there(Array::full({8}, 1, DType::f32));
  const Array low = whole.slice(0, 0, 5), high = whole.slice(0, 3, 8), apart = number(5);
  const Array one = number(1), two = number(2);
  const auto add = [](const Array& factor, const Array& to) {
    return TensorUpdate<AddScaledFrom, 2>{{factor.data_as<float>()}, {&to, &to}};
  };
  multi_tensor(Updates{add(two, low), add(one, apart), add(one, high), add(two, low)});
  const std::vector<double> expected{9, 9, 9, 18, 18, 2, 2, 2};
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(element(whole, i), expected[i]) << i;
  EXPECT_EQ(apart.item(), 10);
}

}  // namespace
}  // namespace halfgrad::detail
