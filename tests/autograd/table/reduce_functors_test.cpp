// Functors of the reduction engine, run by a team of threads on scalars as a block of a GPU runs
// them, against the CPU's SIMD packs.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/ops/shared/norm_reductions.h>
#include <halfgrad/autograd/ops/shared/total.h>
#include <halfgrad/core/engines/reduce.h>
#include <halfgrad/testing/random_tensor.h>
#include <halfgrad/tests/core/engines/thread_team.h>

namespace halfgrad::detail {
namespace {

template <class R>
struct ReducedRow {
  R r;

  template <class T>
  void operator()(const ThreadTeam<T>& team, Row<const T> x, Row<T> y) const {
    Accumulator<T, R> share(r);
    team.each(x.size(), [&](std::int64_t i) { share.add(x(i)); });
    const double total =
        team.combine(share.total(), [&](double a, double b) { return r.combine(a, b); });
    team.once([&] { y.set(0, static_cast<T>(r.finish(total, x.size()))); });
  }
};

template <class T, class R>
void expect_same(const R& r, const Array& in) {
  const Array expected = Array::empty({}, in.dtype());
  reduce(r, in.dtype(), expected, in, 1);
  T actual = 0;
  run_by_threads<T>(4, ReducedRow<R>{r}, Row<const T>(in.data_as<T>(), in.numel()),
                    Row<T>(&actual, 1));
  EXPECT_NEAR(actual, expected.item(), 32 * roundoff(in.dtype()) * std::abs(expected.item()))
      << in.dtype() << " [" << in.numel() << "]";
}

template <class R>
void expect_same_for_any_size(const R& r) {
  for (const std::int64_t n : {0, 1, 3, 64, 65, 5000}) {
    const Tensor x = random_tensor({n}, 0.5, 2, {7, 0});
    expect_same<float>(r, x.to(kFloat).array());
    expect_same<double>(r, x.to(kDouble).array());
  }
}

TEST(ReduceFunctors, Sums) {
  expect_same_for_any_size(Total(3));
  expect_same_for_any_size(NonZeros());
  expect_same_for_any_size(Magnitudes());
  expect_same_for_any_size(Squares());
  expect_same_for_any_size(Powers(3));
}

TEST(ReduceFunctors, Extremes) {
  expect_same_for_any_size(ExtremeMagnitude<true>());
  for (const std::int64_t n : {1, 3, 65, 5000}) {
    expect_same<float>(ExtremeMagnitude<false>(),
                       random_tensor({n}, -2, 2, {8, 0}).to(kFloat).array());
  }
}

// 257^2 is odd: a float sum above 2^24 loses its last bits, a double total does not.
TEST(ReduceFunctors, TotalsAreAccumulatedInDouble) {
  const std::vector<float> ones(4 << 16, 257);
  float total = 0;
  run_by_threads<float>(4, ReducedRow<Squares>{}, Row<const float>(ones.data(), std::ssize(ones)),
                        Row<float>(&total, 1));
  EXPECT_EQ(total, 512 * 257.0F);
}

}  // namespace
}  // namespace halfgrad::detail
