#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// Parts, copies and bounds, most of which are composed of other ops. Expected values are PyTorch's.
namespace halfgrad {
namespace {

using Rearranging = TensorsOnDevice;
HALFGRAD_ON_DEVICES(Rearranging);

std::vector<Shape> sizes_of(const std::vector<Tensor>& parts) {
  std::vector<Shape> sizes;
  for (const Tensor& part : parts) sizes.push_back(part.sizes());
  return sizes;
}

TEST_P(Rearranging, Splits) {
  const Tensor x = arange(10).to(device());
  EXPECT_EQ(sizes_of(split(x, 4)), (std::vector<Shape>{{4}, {4}, {2}}));
  EXPECT_EQ(sizes_of(split(x, {3, 0, 7})), (std::vector<Shape>{{3}, {0}, {7}}));
  EXPECT_EQ(sizes_of(chunk(x, 4)), (std::vector<Shape>{{3}, {3}, {3}, {1}}));
  EXPECT_EQ(sizes_of(chunk(x, 7)), (std::vector<Shape>{{2}, {2}, {2}, {2}, {2}}));
  EXPECT_EQ(sizes_of(chunk(zeros({0, 2}), 3)), (std::vector<Shape>{{0, 2}, {0, 2}, {0, 2}}));
  EXPECT_EQ(sizes_of(split(zeros({2, 0}), 0, 1)), (std::vector<Shape>{{2, 0}}));
  EXPECT_EQ(sizes_of(unbind(x.reshape({5, 2}), 1)), (std::vector<Shape>{{5}, {5}}));
  EXPECT_EQ(elements(split(x, 4)[2]), (Doubles{8, 9}));
  EXPECT_EQ(elements(chunk(x, 4)[1]), (Doubles{3, 4, 5}));
  EXPECT_EQ(elements(narrow(x, 0, -3, 2)), (Doubles{7, 8}));
  EXPECT_EQ(elements(unbind(x.reshape({5, 2}), 1)[1]), (Doubles{1, 3, 5, 7, 9}));
  split(x, 4)[2].zero_();  // a view
  EXPECT_EQ(x.select(0, 9).item(), 0);
}

TEST_P(Rearranging, RefusesInvalidParts) {
  const Tensor x = arange(10).to(device());
  EXPECT_THROW(narrow(x, 0, 8, 3), std::invalid_argument);
  EXPECT_THROW(narrow(x, 0, 11, 0), std::invalid_argument);
  EXPECT_THROW(narrow(x, 0, -11, 1), std::invalid_argument);
  EXPECT_THROW(narrow(x, 0, 0, -1), std::invalid_argument);
  EXPECT_EQ(narrow(x, 0, 10, 0).numel(), 0);
  EXPECT_THROW(split(x, 0), std::invalid_argument);
  EXPECT_THROW(split(x, -1), std::invalid_argument);
  EXPECT_THROW(split(x, {3, 3}), std::invalid_argument);
  EXPECT_THROW(split(x, {-1, 11}), std::invalid_argument);
  EXPECT_THROW(chunk(x, 0), std::invalid_argument);
  EXPECT_THROW(unbind(sum(x)), std::invalid_argument);
  EXPECT_THROW(tril(x), std::invalid_argument);
  EXPECT_THROW(flip(x, {0, -1}), std::invalid_argument);
  EXPECT_THROW(repeat(x, {}), std::invalid_argument);
  EXPECT_THROW(repeat(x, {-1}), std::invalid_argument);
}

TEST_P(Rearranging, FlipsRepeatsAndCutsTriangles) {
  const Tensor x = arange(6).reshape({2, 3}).to(device());
  EXPECT_EQ(elements(flip(x, {1})), (Doubles{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(elements(flip(x, {0, 1})), (Doubles{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(repeat(x, {2, 1, 2}).sizes(), (Shape{2, 2, 6}));
  EXPECT_EQ(elements(repeat(x, {1, 2})), (Doubles{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}));
  EXPECT_EQ(elements(repeat(sum(x), {3})), (Doubles{15, 15, 15}));
  EXPECT_EQ(repeat(x, {0, 1}).sizes(), (Shape{0, 3}));
  const Tensor most = repeat(reshape(x, {1, 1, 1, 1, 1, 1, 2, 3}), {1, 1, 1, 1, 1, 1, 1, 2});
  EXPECT_EQ(most.sizes(), (Shape{1, 1, 1, 1, 1, 1, 2, 6})) << "a Shape has 8 dimensions at most";
  EXPECT_EQ(elements(most), (Doubles{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}));
  EXPECT_EQ(elements(tril(x)), (Doubles{0, 0, 0, 3, 4, 0}));
  EXPECT_EQ(elements(tril(x, 1)), (Doubles{0, 1, 0, 3, 4, 5}));
  EXPECT_EQ(elements(triu(x)), (Doubles{0, 1, 2, 0, 4, 5}));
  EXPECT_EQ(elements(triu(x.expand({2, 2, 3}), -1)[1]), (Doubles{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(tril(x > 0).dtype(), kBool);
  for (const Tensor& copy : {flip(x, {}), repeat(x, {1, 1}), repeat(x, {1, 1, 1})}) {
    EXPECT_NE(copy.array().storage(), x.array().storage());
  }
}

TEST_P(Rearranging, FlipsAnyDimensionsOfAnyDType) {
  const Tensor values = arange(2 * 3 * 4 * 5).reshape({2, 3, 4, 5}).to(device());
  const auto element = [](std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t l) {
    return static_cast<double>(((i * 3 + j) * 4 + k) * 5 + l);
  };
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16, kLong, kInt, kShort, kUInt8}) {
    const Tensor x = values.to(dtype);
    for (unsigned set = 0; set < 16; ++set) {
      Dims dims;
      for (int d = 0; d < 4; ++d) {
        if ((set >> d & 1U) != 0) dims.push_back(d);
      }
      const auto at = [set](int d, std::int64_t i, std::int64_t size) {
        return (set >> d & 1U) != 0 ? size - 1 - i : i;
      };
      Doubles expected;
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 3; ++j) {
          for (int k = 0; k < 4; ++k) {
            for (int l = 0; l < 5; ++l) {
              expected.push_back(element(at(0, i, 2), at(1, j, 3), at(2, k, 4), at(3, l, 5)));
            }
          }
        }
      }
      EXPECT_EQ(elements(flip(x, dims)), expected) << dtype << " " << set;
      EXPECT_EQ(flip(x, dims).dtype(), dtype);
    }
  }
  EXPECT_EQ(elements(flip(values[0][0].t(), {0})),
            (Doubles{4, 9, 14, 19, 3, 8, 13, 18, 2, 7, 12, 17, 1, 6, 11, 16, 0, 5, 10, 15}))
      << "not contiguous";
  EXPECT_EQ(flip(zeros({0, 3}), {0, 1}).sizes(), (Shape{0, 3}));
  EXPECT_EQ(elements(flip(values.sum(), {0})), Doubles{7140});
}

TEST_P(Rearranging, CutsTrianglesAtAnyDiagonal) {
  const Tensor x = ones({2, 3}).to(device());
  constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t diagonal : {kSmallest, std::int64_t{-2}}) {
    EXPECT_EQ(elements(triu(x, diagonal)), (Doubles{1, 1, 1, 1, 1, 1})) << diagonal;
    EXPECT_EQ(elements(tril(x, diagonal)), (Doubles{0, 0, 0, 0, 0, 0})) << diagonal;
  }
  for (const std::int64_t diagonal : {kLargest, std::int64_t{3}}) {
    EXPECT_EQ(elements(triu(x, diagonal)), (Doubles{0, 0, 0, 0, 0, 0})) << diagonal;
    EXPECT_EQ(elements(tril(x, diagonal)), (Doubles{1, 1, 1, 1, 1, 1})) << diagonal;
  }
  EXPECT_EQ(elements(triu(x, 2)), (Doubles{0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(elements(tril(x, -1)), (Doubles{0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(triu(zeros({0, 3})).sizes(), (Shape{0, 3}));
}

TEST_P(Rearranging, RollsAlongDimensionsOrAllOfThem) {
  const Tensor x = arange(6).reshape({2, 3}).to(device());
  EXPECT_EQ(elements(roll(x, 1)), (Doubles{5, 0, 1, 2, 3, 4}));
  EXPECT_EQ(roll(x, 1).sizes(), x.sizes());
  EXPECT_EQ(elements(roll(x, 1, 1)), (Doubles{2, 0, 1, 5, 3, 4}));
  EXPECT_EQ(elements(roll(x, -7, -1)), (Doubles{1, 2, 0, 4, 5, 3}));
  EXPECT_EQ(elements(roll(x, {1, 2}, {0, 1})), (Doubles{4, 5, 3, 1, 2, 0}));
  EXPECT_EQ(elements(roll(x, {1, 2}, {1, 1})), elements(x));
  EXPECT_EQ(elements(roll(x.t(), 1)), (Doubles{5, 0, 3, 1, 4, 2})) << "not contiguous";
  constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();  // 1 modulo 3
  EXPECT_EQ(elements(roll(x, kSmallest, 1)), elements(roll(x, kSmallest % 3, 1)));
  EXPECT_EQ(elements(roll(sum(x), 3)), Doubles{15});
  EXPECT_EQ(roll(zeros({0, 3}), 1, 0).sizes(), (Shape{0, 3}));
  EXPECT_EQ(roll(x > 2, 1).dtype(), kBool);
  EXPECT_NE(roll(x, 0, 0).array().storage(), x.array().storage());
  EXPECT_NE(roll(x, 6).array().storage(), x.array().storage());
  EXPECT_EQ(message_of([&] { roll(x, 1, 2); }),
            message_of([] { static_cast<void>(wrap_dim(2, 2, "roll")); }));
  EXPECT_THROW(roll(sum(x), 1, 0), std::out_of_range);
  EXPECT_EQ(message_of([&] {
              roll(x, {1, 2});
            }),
            "roll: expected a shift for each dimension, got shifts [1, 2] and dims []");
  EXPECT_THROW(roll(x, {}, {}), std::invalid_argument);
  EXPECT_THROW(roll(x, 1, {0, 1}), std::invalid_argument);
}

TEST_P(Rearranging, BoundsThatAreTensorsPropagateNaNAndShareTheGradientOfTies) {
  const Tensor x = elements({-2, -1, 0, 2, 3, kNan}).requires_grad_();
  const Tensor low = elements({-1, -1, -1, -1, -1, -1}).requires_grad_();
  const Tensor high = elements({2, 2, 2, 2, 2, 2}).requires_grad_();
  const Tensor y = clamp(x, low, high);
  expect_values(y.to(kCPU), {-1, -1, 0, 2, 2, kNan});
  y.backward(ones_like(y));
  EXPECT_EQ(elements(x.grad().slice(0, 0, 5)), (Doubles{0, 0.5, 1, 0.5, 0}));
  EXPECT_EQ(elements(low.grad().slice(0, 0, 5)), (Doubles{1, 0.5, 0, 0, 0}));
  EXPECT_EQ(elements(high.grad().slice(0, 0, 5)), (Doubles{0, 0, 0, 0.5, 1}));
  expect_values(clamp(x, {}, high).to(kCPU), {-2, -1, 0, 2, 2, kNan});
  EXPECT_THROW(clamp(x, Tensor(), Tensor()), std::invalid_argument);
}

TEST_P(Rearranging, Closeness) {
  const Tensor x = elements({1, kInf, -kInf, kInf, kNan, 100});
  const Tensor y = elements({1 + 1e-6, kInf, kInf, 1, kNan, 101});
  EXPECT_EQ(elements(isclose(x, y)), (Doubles{1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(elements(isclose(x, y, 0.01, 0, true)), (Doubles{1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(elements(isclose(x, y, 0, 0)), (Doubles{0, 1, 0, 0, 0, 0}));
  for (const DType dtype : {kLong, kUInt8, kBool}) {
    const Tensor first = elements({0, 1}, dtype);
    EXPECT_EQ(elements(isclose(first, elements({1, 1}, dtype))), (Doubles{0, 1}));
    EXPECT_EQ(elements(isclose(first, elements({1, 1}, dtype), 0, 1)), (Doubles{1, 1}));
  }
  EXPECT_FALSE(allclose(x, x));
  EXPECT_TRUE(allclose(x, x, 1e-5, 1e-8, true));
  EXPECT_THROW(isclose(x, x.to(kFloat)), std::invalid_argument);
  EXPECT_THROW(isclose(x, x, -1), std::invalid_argument);
  EXPECT_FALSE(equal(x, x));
  EXPECT_TRUE(equal(elements({1, 2}), elements({1, 2}, kLong)));
  EXPECT_FALSE(equal(elements({1}), elements({1}).unsqueeze(0)));
  EXPECT_TRUE(equal(elements(Doubles()), elements(Doubles())));
}

TEST_P(Rearranging, Masks) {
  const Tensor x = elements({1, 2, 3, 4});
  const Tensor a = x > 2;
  const Tensor b = 3 >= x;
  EXPECT_EQ(elements(~a), (Doubles{1, 1, 0, 0}));
  EXPECT_EQ(elements(a & b), (Doubles{0, 0, 1, 0}));
  EXPECT_EQ(elements(a | b), (Doubles{1, 1, 1, 1}));
  EXPECT_EQ(elements(a ^ b), (Doubles{1, 1, 0, 1}));
  EXPECT_EQ(elements(2 == x), (Doubles{0, 1, 0, 0}));
  EXPECT_EQ(elements(2 != x), (Doubles{1, 0, 1, 1}));
  EXPECT_EQ(elements(2 < x), (Doubles{0, 0, 1, 1}));
  EXPECT_EQ(elements(2 <= x), (Doubles{0, 1, 1, 1}));
  EXPECT_EQ(elements(2 > x), (Doubles{1, 0, 0, 0}));
  EXPECT_EQ(message_of([&] { a& x; }),
            "operator&: expected integers or bool, got bool and float64");
  EXPECT_THROW(~x, std::invalid_argument);
  EXPECT_THROW(x | a, std::invalid_argument);
  EXPECT_THROW(a ^ x, std::invalid_argument);
}

TEST_P(Rearranging, GradientsAgreeWithFiniteDifferences) {
  struct Case {
    const char* name;
    std::function<std::vector<Tensor>(const std::vector<Tensor>&)> function;
  };
  using Tensors = std::vector<Tensor>;
  const Case cases[] = {
      {"narrow", [](const Tensors& in) { return Tensors{narrow(in[0], 1, 1, 2)}; }},
      {"split", [](const Tensors& in) { return split(in[0], 2, 1); }},
      {"chunk", [](const Tensors& in) { return chunk(in[0], 2, -1); }},
      {"unbind", [](const Tensors& in) { return unbind(in[0], 1); }},
      {"flip",
       [](const Tensors& in) {
         return Tensors{flip(in[0], {0, 1})};
       }},
      {"roll",
       [](const Tensors& in) {
         return Tensors{roll(in[0], {1, -2}, {0, 1}), roll(in[1].t(), 5)};
       }},
      {"repeat",
       [](const Tensors& in) {
         return Tensors{repeat(in[0], {2, 1, 3})};
       }},
      {"tril", [](const Tensors& in) { return Tensors{tril(in[0], 1)}; }},
      {"triu", [](const Tensors& in) { return Tensors{triu(in[0])}; }},
      {"clamp", [](const Tensors& in) { return Tensors{clamp(in[0], in[1] - 1, in[2] + 1)}; }},
      {"clamp_min", [](const Tensors& in) { return Tensors{clamp_min(in[0], in[1])}; }},
      {"clamp_max", [](const Tensors& in) { return Tensors{clamp_max(in[0], in[1])}; }},
      {"clamp_min, scalar", [](const Tensors& in) { return Tensors{clamp_min(in[0], 0.1)}; }},
      {"addcmul", [](const Tensors& in) { return Tensors{addcmul(in[0], in[1], in[2], 3)}; }},
      {"addcdiv", [](const Tensors& in) { return Tensors{addcdiv(in[0], in[1], in[2] + 4, 3)}; }}};
  Tensors inputs;
  for (std::uint64_t stream = 0; stream < 3; ++stream) {
    const Tensor x = random_tensor({3, 4}, -2, 2, {.seed = 3, .stream = stream});
    inputs.push_back(x.to(device()).requires_grad_());
  }
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_TRUE(autograd::gradcheck(c.function, inputs));
    EXPECT_TRUE(autograd::gradgradcheck(c.function, inputs));
  }
}

TEST_P(Rearranging, QuotientsOfIntegersAreRefusedByAddcdiv) {
  const Tensor x = elements({1, 2});
  const Tensor integers = x.to(kLong);
  EXPECT_THROW(addcdiv(x, integers, integers), std::invalid_argument);
  EXPECT_EQ(addcmul(integers, integers, integers, 2).dtype(), kLong);
  EXPECT_THROW(addcmul(integers, integers, integers, 0.5), std::invalid_argument);
}

// The product and the quotient overflow float16 before the addition.
TEST_P(Rearranging, AddcmulAndAddcdivRoundHalvesOnce) {
  const Tensor a = elements({-6e4}, kHalf), b = elements({300}, kHalf);
  EXPECT_EQ(elements(addcmul(a, b, b)), Doubles{3e4});
  EXPECT_EQ(elements(addcdiv(a, b, elements({0x1p-8}, kHalf))), Doubles{16800});
}

}  // namespace
}  // namespace halfgrad
