#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include <halfgrad/autograd/composed/counting.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// Expected values are PyTorch's.
namespace halfgrad {
namespace {

using CountingComposed = TensorsOnDevice;
HALFGRAD_ON_DEVICES(CountingComposed);

TEST_P(CountingComposed, Isin) {
  const Tensor x = elements({1, 2, kNan, -0.0, 5, kInf}).reshape({2, 3});
  const Tensor tests = elements({5, 0, kNan, 1, 1, kInf});
  EXPECT_EQ(elements(isin(x, tests)), (Doubles{1, 0, 0, 1, 1, 1}));
  EXPECT_EQ(isin(x, tests).sizes(), (Shape{2, 3}));
  EXPECT_EQ(isin(x, tests).dtype(), kBool);
  EXPECT_EQ(elements(isin(x.t(), tests, true, true)), (Doubles{0, 0, 1, 0, 1, 0}));
  EXPECT_EQ(elements(isin(elements({1, 2}, kInt), elements({1.5, 2}, kHalf))), (Doubles{0, 1}));
  EXPECT_EQ(elements(isin(elements({1, 0}, kBool), elements({1}, kBool))), (Doubles{1, 0}));
  EXPECT_EQ(elements(isin(x, 2)), (Doubles{0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(elements(isin(x, 2, false, true)), (Doubles{1, 0, 1, 1, 1, 1}));
  EXPECT_EQ(isin(5, x).item(), 1);
  EXPECT_EQ(isin(5, x, false, true).item(), 0);
  EXPECT_EQ(isin(5, x).sizes(), Shape());
  EXPECT_EQ(isin(sum(elements({2, 3})), tests).item(), 1);
  EXPECT_EQ(elements(isin(elements({1, 2}), elements(Doubles()))), (Doubles{0, 0}));
  EXPECT_EQ(isin(elements(Doubles()), tests).sizes(), Shape{0});
}

TEST_P(CountingComposed, Bincount) {
  const Tensor x = elements({0, 3, 1, 3}, kLong);
  EXPECT_EQ(elements(bincount(x)), (Doubles{1, 1, 0, 2}));
  EXPECT_EQ(bincount(x).dtype(), kLong);
  EXPECT_EQ(elements(bincount(x, {}, 6)), (Doubles{1, 1, 0, 2, 0, 0}));
  EXPECT_EQ(elements(bincount(x, elements({1, 2, 4, 0.5}))), (Doubles{1, 4, 0, 2.5}));
  EXPECT_EQ(bincount(x, elements({1, 2, 4, 1}, kFloat32)).dtype(), kFloat32);
  EXPECT_EQ(bincount(x, elements({1, 2, 4, 1}, kHalf)).dtype(), kFloat64);
  EXPECT_EQ(elements(bincount(elements({255, 254}, kUInt8))).size(), 256u);
  EXPECT_EQ(elements(bincount(elements(Doubles(), kLong), {}, 2)), (Doubles{0, 0}));
  EXPECT_EQ(message_of([&] {
              bincount(elements({0, -1}, kLong));
            }),
            "bincount: expected integers in [0, 281474976710656), got -1");
  EXPECT_THROW(bincount(elements({0, 0x1p62}, kLong)), std::invalid_argument);
  EXPECT_THROW(bincount(elements({1, 2})), std::invalid_argument);
  EXPECT_THROW(bincount(elements({1, 0}, kBool)), std::invalid_argument);
  EXPECT_THROW(bincount(x.unsqueeze(0)), std::invalid_argument);
  EXPECT_THROW(bincount(x, elements({1, 2})), std::invalid_argument);
  EXPECT_THROW(bincount(x, {}, -1), std::invalid_argument);
}

TEST_P(CountingComposed, DistinctElements) {
  const Tensor x = elements({3, 1, -2, 1, 3, 1}, kInt).reshape({2, 3});
  const auto [distinct, inverse, counts] = _unique2(x.t(), true, true, true);
  EXPECT_EQ(elements(distinct), (Doubles{-2, 1, 3}));
  EXPECT_EQ(distinct.dtype(), kInt);
  EXPECT_EQ(elements(inverse), (Doubles{2, 1, 1, 2, 0, 1})) << "of the transpose";
  EXPECT_EQ(inverse.sizes(), (Shape{3, 2}));
  EXPECT_EQ(elements(counts), (Doubles{1, 3, 2}));
  EXPECT_EQ(std::get<1>(_unique2(x)).numel(), 0);
  EXPECT_EQ(std::get<2>(_unique2(x)).numel(), 0);
  EXPECT_EQ(elements(std::get<0>(_unique2(x, false))), (Doubles{-2, 1, 3}));
  const auto [of_nans, places, times] = _unique2(elements({kNan, 0, kNan, -0.0}), true, true, true);
  EXPECT_EQ(of_nans.numel(), 3) << "each NaN is an element of its own";
  EXPECT_EQ(elements(places), (Doubles{1, 0, 2, 0}));
  EXPECT_EQ(elements(times), (Doubles{2, 1, 1}));
  EXPECT_EQ(elements(std::get<1>(_unique2(sum(x), true, true))), (Doubles{0}));
  EXPECT_EQ(std::get<1>(_unique2(sum(x), true, true)).sizes(), Shape());
  const Tensor none = elements(Doubles()).reshape({0, 2});
  EXPECT_EQ(std::get<1>(_unique2(none, true, true, true)).sizes(), (Shape{0, 2}));
  EXPECT_EQ(std::get<2>(_unique2(none, true, true, true)).numel(), 0);
  EXPECT_FALSE(std::get<0>(_unique2(randn({3}, {.requires_grad = true}))).requires_grad());
}

TEST_P(CountingComposed, Histc) {
  const Tensor x = elements({1, 2, 1, 4, kNan, -7, 3});
  EXPECT_EQ(elements(histc(x, 4, 0, 4)), (Doubles{0, 2, 1, 2}));
  EXPECT_EQ(elements(histc(elements({1, 2, 4}), 3)), (Doubles{1, 1, 1}));
  EXPECT_EQ(elements(histc(elements({5, 5}), 2)), (Doubles{0, 2}));
  EXPECT_EQ(histc(x, 10, 0, 1).dtype(), kFloat64);
  EXPECT_EQ(histc(elements({1, 2}, kFloat32)).sizes(), Shape{100});
  EXPECT_EQ(histc(elements({1, 2}, kFloat32)).dtype(), kFloat32);
  EXPECT_EQ(elements(histc(elements(Doubles()), 2)), (Doubles{0, 0}));
  EXPECT_EQ(elements(histc(elements({-1e308, 0.5e308, 1e308}), 2)), (Doubles{1, 2}));
  EXPECT_EQ(elements(histc(elements({kInf, 1}), 1, 0, 2)), Doubles{1});
  EXPECT_EQ(elements(histc(x.to(kHalf), 4, 0, 4)), (Doubles{0, 2, 1, 2}));
  EXPECT_EQ(histc(x.to(kBFloat16), 4, 0, 4).dtype(), kBFloat16);
  EXPECT_EQ(message_of([&] { histc(x, 4, 2, 1); }),
            "histc: expected finite bounds with min <= max, got 2 and 1");
  EXPECT_THROW(histc(x), std::invalid_argument) << "NaN";
  EXPECT_THROW(histc(x, 4, 0, kInf), std::invalid_argument);
  EXPECT_THROW(histc(x, 0), std::invalid_argument);
  EXPECT_THROW(histc(x > 0), std::invalid_argument);
}

TEST_P(CountingComposed, Searchsorted) {
  const Tensor sequence = elements({1, 3, 3, 7}), x = elements({0, 3, 8, 1, 7, 5}).reshape({2, 3});
  EXPECT_EQ(elements(searchsorted(sequence, x)), (Doubles{0, 1, 4, 0, 3, 3}));
  EXPECT_EQ(elements(searchsorted(sequence, x, false, true)), (Doubles{0, 3, 4, 1, 4, 3}));
  EXPECT_EQ(searchsorted(sequence, x).sizes(), (Shape{2, 3}));
  EXPECT_EQ(searchsorted(sequence, x).dtype(), kLong);
  EXPECT_EQ(searchsorted(sequence, x, true).dtype(), kInt);
  const Tensor rows = elements({1, 3, 5, 7, 2, 4, 6, 8}).reshape({2, 4});
  EXPECT_EQ(elements(searchsorted(rows, elements({3, 6, 3, 6}).reshape({2, 2}))),
            (Doubles{1, 3, 1, 2}));
  const Tensor columns = elements({1, 2, 3, 4, 5, 6, 7, 8}).reshape({4, 2});
  EXPECT_EQ(elements(searchsorted(columns.t(), elements({3, 3}).reshape({2, 1}))), (Doubles{1, 1}))
      << "not contiguous";
  EXPECT_EQ(searchsorted(sequence, sum(sequence)).sizes(), Shape());
  EXPECT_EQ(searchsorted(sequence, elements(Doubles())).sizes(), Shape{0});
  EXPECT_EQ(elements(searchsorted(elements(Doubles()), x)), (Doubles{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(elements(searchsorted(sequence, elements({kNan, kInf, -kInf}))), (Doubles{4, 4, 0}));
  EXPECT_EQ(elements(searchsorted(elements({-0.0, 0}), elements({0, -0.0}), false, true)),
            (Doubles{2, 2}));
  EXPECT_EQ(elements(searchsorted(elements({1, 3}, kHalf), elements({2}, kHalf))), Doubles{1});
  EXPECT_EQ(elements(searchsorted(elements({1, 3}, kInt), elements({0.5, 2.5, 3}, kHalf))),
            (Doubles{0, 1, 1}));
  EXPECT_EQ(elements(searchsorted(elements({1, 3}, kBFloat16), elements({0, 1, 4}, kUInt8))),
            (Doubles{0, 0, 2}));
  const Tensor odd = elements({0x1p24 + 1}, kLong);
  EXPECT_EQ(elements(searchsorted(odd, elements({0x1p24}, kFloat32), false, true)), Doubles{0})
      << "float32 cannot hold the integer";
}

TEST_P(CountingComposed, SearchsortedBySideAndSorter) {
  const Tensor sorted = elements({1, 3, 3, 7}), shuffled = elements({3, 7, 1, 3});
  const Tensor sorter = argsort(shuffled), x = elements({3, 0, 7});
  EXPECT_EQ(elements(searchsorted(sorted, x, false, false, "left")), (Doubles{1, 0, 3}));
  EXPECT_EQ(elements(searchsorted(sorted, x, false, false, "right")), (Doubles{3, 0, 4}));
  EXPECT_EQ(elements(searchsorted(sorted, x, false, true, "right")), (Doubles{3, 0, 4}));
  EXPECT_EQ(elements(searchsorted(shuffled, x, false, true, {}, sorter)), (Doubles{3, 0, 4}));
  EXPECT_EQ(searchsorted(shuffled, 3, true, false, "right", sorter).item(), 3);
  EXPECT_EQ(searchsorted(shuffled, 3, true, false, "right", sorter).dtype(), kInt);
  EXPECT_THROW(searchsorted(sorted, x, false, true, "left"), std::invalid_argument);
  EXPECT_THROW(searchsorted(sorted, x, false, false, "middle"), std::invalid_argument);
  EXPECT_EQ(message_of([&] { searchsorted(sorted, x, false, false, {}, sorter.slice(0, 1)); }),
            "searchsorted: expected a sorter of the sequence's shape [4], got [3]");
}

TEST_P(CountingComposed, SearchsortedOfOneValue) {
  const Tensor sequence = elements({1, 3, 3, 7}), integers = sequence.to(kInt);
  for (const Tensor& each : {sequence, integers}) {
    EXPECT_EQ(searchsorted(each, 3).item(), 1);
    EXPECT_EQ(searchsorted(each, 3, false, true).item(), 3);
    EXPECT_EQ(searchsorted(each, 3.0).item(), 1);
    EXPECT_EQ(searchsorted(each, 3.5).item(), 3);
    EXPECT_EQ(searchsorted(each, 2.5, true).item(), 1);
    EXPECT_EQ(searchsorted(each, -2.5).item(), 0);
    EXPECT_EQ(searchsorted(each, kInf).item(), 4);
    EXPECT_EQ(searchsorted(each, -kInf).item(), 0);
    EXPECT_EQ(searchsorted(each, kNan).item(), 4);
    EXPECT_EQ(searchsorted(each, 3, true).dtype(), kInt);
    EXPECT_EQ(searchsorted(each, kInf, true).dtype(), kInt);
    EXPECT_EQ(bucketize(3, each, false, true).item(), 3);
  }
  EXPECT_EQ(searchsorted(elements({0.1}, kFloat32), 0.1).item(), 0) << "0.1 rounds to float32";
  EXPECT_EQ(searchsorted(elements({5, 9}, kUInt8), 300).item(), 2);
  EXPECT_EQ(searchsorted(elements({1, 2}, kHalf), 1e9).item(), 2);
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(searchsorted(full({1}, large, in(kLong)), large).item(), 0);
}

TEST_P(CountingComposed, Bucketize) {
  const Tensor boundaries = elements({1, 3, 5}), x = elements({3, 6, 0, 5}).reshape({2, 2});
  EXPECT_EQ(elements(bucketize(x, boundaries)), (Doubles{1, 3, 0, 2}));
  EXPECT_EQ(elements(bucketize(x, boundaries, false, true)), (Doubles{2, 3, 0, 3}));
  EXPECT_EQ(bucketize(x, boundaries, true).dtype(), kInt);
}

TEST_P(CountingComposed, SearchesRefuse) {
  const Tensor v = elements({1, 2, 3}), m = v.unsqueeze(0);
  EXPECT_EQ(message_of([&] { searchsorted(m, v); }),
            "searchsorted: expected a sequence that is a vector, or of self's sizes but for the "
            "last, got [1, 3] and self [3]");
  EXPECT_THROW(searchsorted(m, m.expand({2, 3})), std::invalid_argument);
  EXPECT_THROW(searchsorted(m, sum(v)), std::invalid_argument);
  EXPECT_THROW(searchsorted(sum(v), v), std::invalid_argument);
  EXPECT_THROW(searchsorted(sum(v), sum(v)), std::invalid_argument);
  EXPECT_THROW(searchsorted(m, 1), std::invalid_argument);
  EXPECT_THROW(bucketize(m, m), std::invalid_argument);
}

TEST_P(CountingComposed, UniqueConsecutive) {
  const Tensor x = elements({1, 1, 2, 2, 2, 1, 3, 3}).reshape({2, 4});
  const auto [values, inverse, counts] = unique_consecutive(x, true, true);
  EXPECT_EQ(elements(values), (Doubles{1, 2, 1, 3}));
  EXPECT_EQ(elements(inverse), (Doubles{0, 0, 1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(inverse.sizes(), (Shape{2, 4}));
  EXPECT_EQ(elements(counts), (Doubles{2, 3, 1, 2}));
  EXPECT_EQ(inverse.dtype(), kLong);
  EXPECT_EQ(counts.dtype(), kLong);
  const auto [only, no_inverse, no_counts] = unique_consecutive(elements({kNan, kNan, 1, 1}));
  expect_values(only, {kNan, kNan, 1});
  EXPECT_EQ(no_inverse.sizes(), Shape{0});
  EXPECT_EQ(no_counts.sizes(), Shape{0});
  const auto [one, index, length] = unique_consecutive(elements({4}).squeeze(), true, true);
  EXPECT_EQ(elements(one), Doubles{4});
  EXPECT_EQ(index.sizes(), Shape());
  EXPECT_EQ(elements(length), Doubles{1});
  const auto [none, no_index, no_length] = unique_consecutive(zeros({0, 2}), true, true);
  EXPECT_EQ(none.sizes(), Shape{0});
  EXPECT_EQ(no_index.sizes(), (Shape{0, 2}));
  EXPECT_EQ(no_length.sizes(), Shape{0});
  EXPECT_EQ(elements(std::get<0>(unique_consecutive(elements({1, 1, 0}, kBool)))), (Doubles{1, 0}));
}

TEST_P(CountingComposed, Argwhere) {
  EXPECT_EQ(elements(argwhere(elements({0, 2, kNan, 0}).reshape({2, 2}))), (Doubles{0, 1, 1, 0}));
  EXPECT_EQ(argwhere(zeros({2, 2})).sizes(), (Shape{0, 2}));
  EXPECT_EQ(argwhere(elements({4}).squeeze()).sizes(), (Shape{1, 0}));
}

}  // namespace
}  // namespace halfgrad
