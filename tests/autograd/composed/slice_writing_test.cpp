#include <cstdint>
#include <stdexcept>
#include <vector>

#include <halfgrad/autograd/composed/writing.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// Copies with slices added, copied and filled by an index. Expected values are PyTorch's.
namespace halfgrad {
namespace {

class WrittenSlices : public TensorsOnDevice {
 protected:
  Tensor indices(const Doubles& values) const { return elements(values, kLong); }
  Tensor matrix() const { return elements({1, 2, 3, 4, 5, 6}).reshape({3, 2}); }
};
HALFGRAD_ON_DEVICES(WrittenSlices);

TEST_P(WrittenSlices, AreAdded) {
  const Tensor x = matrix();
  const Tensor source = elements({10, 20, 30, 40, 50, 60}).reshape({3, 2});
  const Tensor index = indices({2, 0, 2});
  EXPECT_EQ(elements(index_add(x, 0, index, source)), (Doubles{31, 42, 3, 4, 65, 86}));
  EXPECT_EQ(elements(index_add(x, 0, index.to(kInt), source, -0.5)),
            (Doubles{-14, -18, 3, 4, -25, -34}));
  EXPECT_EQ(elements(index_add(x.t(), 1, index, source.t()).t()),
            elements(index_add(x, 0, index, source)))
      << "not contiguous";
  EXPECT_EQ(elements(index_add(x, -1, indices({1}), source.slice(1, 0, 1))),
            (Doubles{1, 12, 3, 34, 5, 56}));
  EXPECT_EQ(elements(index_add(x, 0, index[0], source.slice(0, 0, 1))),
            (Doubles{1, 2, 3, 4, 15, 26}));
  EXPECT_EQ(elements(index_add(x.to(kLong), 0, index, source.to(kLong), 2)),
            (Doubles{61, 82, 3, 4, 125, 166}));
  EXPECT_EQ(index_add(x.to(kHalf), 0, index, source.to(kHalf), 0.1).dtype(), kHalf);
  EXPECT_EQ(index_add(x.to(kInt), 0, index, source.to(kInt), 3).dtype(), kInt);
  EXPECT_EQ(index_add(x[0][0], 0, indices({0, 0}), elements({2, 3})).item(), 6);
  EXPECT_EQ(elements(index_add(x[0], 0, indices({1}), elements({5})[0])), (Doubles{1, 7}));
  EXPECT_EQ(elements(index_add(x, 0, indices({}), x.slice(0, 0, 0))), elements(x));
  EXPECT_EQ(elements(x), (Doubles{1, 2, 3, 4, 5, 6})) << "not changed";
}

TEST_P(WrittenSlices, AreCopied) {
  const Tensor x = matrix();
  const Tensor source = elements({10, 20, 30, 40, 50, 60}).reshape({3, 2});
  EXPECT_EQ(elements(index_copy(x, 0, indices({2, 0, 2}), source)), (Doubles{30, 40, 3, 4, 50, 60}))
      << "the last one stays";
  EXPECT_EQ(elements(index_copy(x, 0, indices({1, 2}), source.slice(0, 0, 2))),
            (Doubles{1, 2, 10, 20, 30, 40}));
  EXPECT_EQ(elements(index_copy(x, 1, indices({1}), source.slice(1, 0, 1))),
            (Doubles{1, 10, 3, 30, 5, 50}));
  EXPECT_EQ(elements(index_copy(x.t(), -1, elements({1}, kInt), source.slice(0, 2).t())),
            (Doubles{1, 50, 5, 2, 60, 6}));
  EXPECT_EQ(elements(index_copy(x, 0, indices({1})[0], source.slice(0, 0, 1))),
            (Doubles{1, 2, 10, 20, 5, 6}));
  EXPECT_EQ(index_copy(x[0][0], 0, indices({0}), elements({9})[0]).item(), 9);
  EXPECT_EQ(index_copy(x[0][0], 0, indices({0}), elements({9})).sizes(), Shape{});
  EXPECT_EQ(elements(index_copy(x > 2, 0, indices({0}), x.slice(0, 0, 1) > 1)),
            (Doubles{0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(index_copy(x.to(kBFloat16), 0, indices({0}), x.slice(0, 0, 1).to(kBFloat16)).dtype(),
            kBFloat16);
  EXPECT_EQ(elements(index_copy(x, 0, indices({}), x.slice(0, 0, 0))), elements(x));
  EXPECT_FALSE(index_copy(x, 0, indices({}), x.slice(0, 0, 0)).is_alias_of(x));
  EXPECT_EQ(index_copy(x.slice(1, 0, 0), 0, indices({0}), zeros({1, 0}, in(kDouble))).sizes(),
            (Shape{3, 0}));
}

TEST_P(WrittenSlices, AreFilled) {
  const Tensor x = matrix();
  EXPECT_EQ(elements(index_fill(x, 0, indices({2, 0, 2}), -1)), (Doubles{-1, -1, 3, 4, -1, -1}));
  EXPECT_EQ(elements(index_fill(x, 1, indices({-1}), 9)), (Doubles{1, 9, 3, 9, 5, 9}));
  EXPECT_EQ(elements(index_fill(x, 1, elements({-2}, kInt)[0], 9)), (Doubles{9, 2, 9, 4, 9, 6}));
  EXPECT_EQ(elements(index_fill(x.t(), 0, indices({0}), 9)), (Doubles{9, 9, 9, 2, 4, 6}));
  EXPECT_EQ(elements(index_fill(x.to(kLong), 0, indices({0}), 7)), (Doubles{7, 7, 3, 4, 5, 6}));
  EXPECT_EQ(elements(index_fill(x > 9, 0, indices({1}), true)), (Doubles{0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(index_fill(x[0][0], 0, indices({0}), 5).item(), 5);
  EXPECT_EQ(index_fill(x[0][0], 0, indices({-1}), 5).sizes(), Shape{});
  EXPECT_EQ(elements(index_fill(x, 0, indices({}), 5)), elements(x));
  EXPECT_FALSE(index_fill(x, 0, indices({}), 5).is_alias_of(x));
  EXPECT_EQ(index_fill(zeros({0, 2}), 0, zeros({0}, kLong), 1).sizes(), (Shape{0, 2}));

  const Tensor seven = elements({7}, kLong)[0];
  EXPECT_EQ(elements(index_fill(x, 0, indices({1}), seven)), (Doubles{1, 2, 7, 7, 5, 6}));
  EXPECT_EQ(index_fill(x.to(kHalf), 0, indices({1}), elements({7})[0]).dtype(), kHalf);
  EXPECT_EQ(index_fill(x.to(kInt), 0, indices({1}), seven.to(kFloat)).dtype(), kInt);
  EXPECT_EQ(index_fill(x[0][0], 0, indices({0}), seven).item(), 7);
  EXPECT_EQ(index_fill(x > 9, 0, indices({0}), seven).dtype(), kBool);
}

TEST_P(WrittenSlices, RefuseWhatDoesNotFit) {
  const Tensor x = matrix(), index = indices({0, 1});
  EXPECT_EQ(message_of([&] { index_add(x, 0, index, x); }),
            "index_add: expected a source [2, 2] for self [3, 2] and 2 indices, got [3, 2]");
  EXPECT_EQ(message_of([&] { index_copy(x, 0, x, x); }),
            "index_copy: expected an index [n], got shape [3, 2]");
  EXPECT_EQ(message_of([&] { index_add(x, 1, index, x.to(kFloat)); }),
            "index_add: expected self and source of one dtype, got float64 and float32");
  EXPECT_EQ(message_of([&] { index_add(x.to(kLong), 1, index, x.to(kLong), 0.5); }),
            "index_add: expected an integer alpha for int64, got 0.5");
  EXPECT_THROW(index_add(x, 1, index.to(kDouble), x), std::invalid_argument);
  EXPECT_THROW(index_add(x, 0, index, elements({1, 2})), std::invalid_argument);
  EXPECT_THROW(index_copy(x, 0, index, x.t()), std::invalid_argument);
  EXPECT_THROW(index_copy(x, 1, index > 0, x), std::invalid_argument);
  EXPECT_THROW(index_copy(x, 2, index, x), std::out_of_range);
  EXPECT_THROW(index_fill(x, 0, index.to(kFloat), 1), std::invalid_argument);
  EXPECT_THROW(index_fill(x, 0, index > 0, 1), std::invalid_argument);
  EXPECT_THROW(index_fill(x, 0, index.unsqueeze(0), 1), std::invalid_argument);
  EXPECT_THROW(index_fill(x, 0, index, elements({1, 2})), std::invalid_argument);
  EXPECT_THROW(index_fill(x, -3, index, 1), std::out_of_range);
  EXPECT_THROW(index_fill(x.to(kUInt8), 0, index, 300), std::invalid_argument);
  EXPECT_THROW(index_fill(x.to(kUInt8), 0, index, elements({300}, kLong)[0]),
               std::invalid_argument);
  EXPECT_THROW(index_fill(x.to(kInt), 0, index, elements({kNan})[0]), std::invalid_argument);
  EXPECT_THROW(index_fill(x.to(kHalf), 0, index, elements({1e9})[0]), std::invalid_argument);
}

TEST_P(WrittenSlices, AreAddedInTheirOrderForAnyDType) {
  constexpr std::int64_t kOuter = 3, kSize = 5, kInner = 300, kCount = 40;
  Doubles at;
  for (std::int64_t j = 0; j < kCount; ++j) at.push_back(static_cast<double>(j * j % kSize));
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16, kLong, kInt, kUInt8}) {
    const Tensor x = random_tensor({kOuter, kSize, kInner}, 0, 5, {.seed = 1}).to(dtype);
    const Tensor source = random_tensor({kOuter, kCount, kInner}, 0, 5, {.seed = 2}).to(dtype);
    // Adds one slice after the other in the compute type, and rounds once.
    const DType wide = is_floating_point(dtype) ? promote_types(dtype, kFloat) : kLong;
    const Tensor expected = clone(x.to(wide));
    for (std::int64_t j = 0; j < kCount; ++j) {
      const auto row = static_cast<std::int64_t>(at[static_cast<std::size_t>(j)]);
      select(expected, 1, row).add_(select(source, 1, j).to(wide));
    }
    const Tensor sums = index_add(x.to(device()), 1, indices(at), source.to(device()));
    EXPECT_EQ(elements(sums), elements(expected.to(dtype))) << dtype;
    const Tensor columns = index_add(x.transpose(1, 2).to(device()), 2, indices(at),
                                     source.transpose(1, 2).to(device()));
    EXPECT_EQ(elements(columns.transpose(1, 2)), elements(sums)) << dtype;
  }
}

TEST_P(WrittenSlices, HaveTheGradientsOfFiniteDifferences) {
  const Tensor index = indices({2, 0, 2});  // one slice twice
  const auto f = [&](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{index_add(in[0], 0, index, in[1]),
                               index_add(in[0].t(), 1, index, in[1].t(), 1.5),
                               index_copy(in[0], 0, index, in[1]),
                               index_copy(in[0], 1, indices({1}), in[1].slice(1, 0, 1)),
                               index_fill(in[0], 0, index, 3),
                               index_fill(in[0], 1, indices({-1}), in[1][0][1])};
  };
  std::vector<Tensor> inputs;
  for (std::uint64_t stream = 0; stream < 2; ++stream) {
    const Tensor x = random_tensor({3, 2}, -2, 2, {.seed = 9, .stream = stream});
    inputs.push_back(x.to(device()).requires_grad_());
  }
  for (const Tensor& y : f(inputs)) EXPECT_TRUE(y.requires_grad());
  EXPECT_TRUE(autograd::gradcheck(f, inputs));
  EXPECT_TRUE(autograd::gradgradcheck(f, inputs));
}

}  // namespace
}  // namespace halfgrad
