// Formulas for lists of tensors, run by a team of threads on single floats, as a block of a GPU
// runs them, and compared with the CPU's packs. Several threads write one flag or counter, which
// ThreadSanitizer checks.
#include <array>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/amp/unscale_formula.h>
#include <halfgrad/optim/parameter_update.h>
#include <halfgrad/tests/core/engines/thread_team.h>

namespace halfgrad::detail {
namespace {

constexpr float kInfinity = math::kInfinity;
constexpr std::size_t kSize = 1003;

using Values = std::vector<float>;

template <class Update>
struct UpdatedRow {
  Update update;

  template <class... Rows>
  void operator()(const ThreadTeam<float>& team, Rows... rows) const {
    const auto formula = update.make();
    const auto indices = std::index_sequence_for<Rows...>();
    team.each(kSize, [&](std::int64_t i) { apply(formula, i, indices, rows...); });
  }

 private:
  template <class Formula, std::size_t... I, class... Rows>
  static void apply(const Formula& formula, std::int64_t i, std::index_sequence<I...>,
                    Rows... rows) {
    std::array<float, sizeof...(I)> x{rows(i)...};
    formula(x[I]...);
    ((Formula::kWrites >> I & 1U ? rows.set(i, x[I]) : void()), ...);
  }
};

Array array_over(Values& elements) {
  return Array::from_blob(elements.data(), {kSize}, {1}, kFloat, [] {});
}

/// The operands after `update`, run by threads or on packs.
template <class Update, std::size_t N>
std::array<Values, N> updated(const Update& update, std::array<Values, N> operands,
                              bool by_threads) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    if (by_threads) {
      run_by_threads<float>(4, UpdatedRow<Update>{update},
                            Row<float>(operands[I].data(), kSize)...);
    } else {
      const std::array<Array, N> arrays{array_over(operands[I])...};
      multi_tensor(std::vector<TensorUpdate<Update, N>>{{update, {&arrays[I]...}}});
    }
  }
  (std::make_index_sequence<N>());
  return operands;
}

Values counting(float first) {
  Values elements(kSize);
  for (std::size_t i = 0; i < kSize; ++i) elements[i] = first + static_cast<float>(i % 64);
  return elements;
}

template <bool kWrite>
void expect_found(const Values& gradient, bool check_after, double limit, float expected) {
  const float inv_scale = 0.25F;
  for (const bool by_threads : {true, false}) {
    float found_inf = 0;
    const Unscale<kWrite> unscale{&inv_scale, check_after, limit, &found_inf};
    const Values after = updated(unscale, std::array{gradient}, by_threads)[0];
    EXPECT_EQ(found_inf, expected);
    EXPECT_EQ(after[5], kWrite ? gradient[5] / 4 : gradient[5]);
    EXPECT_EQ(after[kSize - 1], kWrite ? gradient[kSize - 1] / 4 : gradient[kSize - 1]);
  }
}

TEST(UpdateFunctors, UnscaleReportsFromEveryThread) {
  Values gradient = counting(1);
  expect_found<true>(gradient, false, kInfinity, 0);
  expect_found<true>(gradient, true, 16, 1);  // 64 / 4
  expect_found<true>(gradient, true, 16.5, 0);
  gradient[kSize - 1] = kInfinity;
  expect_found<true>(gradient, false, kInfinity, 1);
  expect_found<false>(gradient, false, kInfinity, 1);
  const Values bad(kSize, kInfinity);  // seen by all threads at once
  expect_found<true>(bad, false, kInfinity, 1);
  expect_found<false>(bad, false, kInfinity, 1);
}

// parameter -= gradient
struct Move {
  static constexpr unsigned kWrites = 1;

  HG_HD Move make() const { return *this; }

  template <class T>
  HG_HD void operator()(T& parameter, T gradient) const {
    parameter = parameter - gradient;
  }
};

TEST(UpdateFunctors, MastersCountOverflowsFromEveryThread) {
  const std::array operands{counting(0), counting(-4), counting(2)};  // weight, gradient, master
  const float inv_scale = 0.5F;
  std::int64_t counts[2] = {0, 0};
  std::array<Values, 3> after[2];
  for (const bool by_threads : {false, true}) {
    const ForMaster<Move> mastered{{}, 16, &counts[by_threads]};
    after[by_threads] =
        updated(Scaled<ForMaster<Move>>{mastered, &inv_scale, nullptr}, operands, by_threads);
  }
  // 2 + i - (i - 4) / 2 = 4 + i / 2 is at least 16 for 40 of the 64 values of i.
  EXPECT_EQ(counts[true], 40 * (kSize / 64) + (kSize % 64 - 24));
  EXPECT_EQ(counts[false], counts[true]);
  EXPECT_EQ(after[true], after[false]);
  EXPECT_EQ(after[true][0][9], 8.5F);  // the weight is the master, rounded
  EXPECT_EQ(after[true][1][9], 2.5F);
  EXPECT_EQ(after[true][2][9], 8.5F);
}

}  // namespace
}  // namespace halfgrad::detail
