#include <halfgrad/core/engines/parallel.h>

#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/core/engines/element_view.h>
#include <halfgrad/core/engines/grouping.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad {
namespace {

std::vector<double> values_of(const Array& array) {
  const Array doubles = array.to(Device()).to(kDouble).contiguous();
  const auto* const data = doubles.data_as<double>();
  return {data, data + array.numel()};
}

Array indices(const std::vector<std::int64_t>& values, Device device) {
  const Array array = Array::empty({static_cast<std::int64_t>(values.size())}, kLong);
  std::copy(values.begin(), values.end(), array.data_as<std::int64_t>());
  return array.to(device);
}

struct CountVisits {
  std::int64_t* visits;
  std::int64_t columns = 0;

  HG_HD void operator()(std::int64_t i) const { visits[i] += i + 1; }
  HG_HD void operator()(std::int64_t row, std::int64_t column) const {
    visits[row * columns + column] += row * columns + column + 1;
  }
};

class ParallelForEach : public OnDevice {};
HALFGRAD_ON_DEVICES(ParallelForEach);

TEST_P(ParallelForEach, CallsEachIndexOnce) {
  for (const std::int64_t n : {0, 1, 255, 257, 100'000}) {
    const Array visits = Array::full({n}, 0, kLong, device());
    detail::parallel_for_each("test", device(), n, CountVisits{visits.data_as<std::int64_t>()});
    std::vector<double> expected(static_cast<std::size_t>(n));
    std::iota(expected.begin(), expected.end(), 1.0);
    EXPECT_EQ(values_of(visits), expected) << n;
  }
}

TEST_P(ParallelForEach, CallsEachRowAndColumnOnce) {
  for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 3}, {3, 0}, {1, 1}, {1, 70'000}, {70'000, 1}, {301, 333}}) {
    const Array visits = Array::full({rows * columns}, 0, kLong, device());
    detail::parallel_for_each("test", device(), rows, columns,
                              CountVisits{visits.data_as<std::int64_t>(), columns});
    std::vector<double> expected(static_cast<std::size_t>(rows * columns));
    std::iota(expected.begin(), expected.end(), 1.0);
    EXPECT_EQ(values_of(visits), expected) << rows << " x " << columns;
  }
}

TEST(ElementView, IndexesAnyStrides) {
  const Array x = Array::empty({3, 4, 5}, kLong);
  std::iota(x.data_as<std::int64_t>(), x.data_as<std::int64_t>() + 60, 0);
  for (const Array& view : {x, x.transpose(0, 2), x.slice(1, 1, 4, 2), x.select(2, 3),
                            x.select(0, 1).unsqueeze(1).expand({4, 2, 5}), x.slice(0, 2, 3)}) {
    const detail::ElementView<std::int64_t> elements(view);
    const Array dense = view.contiguous();
    for (std::int64_t i = 0; i < view.numel(); ++i) {
      EXPECT_EQ(elements[i], dense.data_as<std::int64_t>()[i]);
    }
  }
}

TEST_P(ParallelForEach, GroupsKeepTheItemsOrder) {
  const detail::Grouping groups =
      detail::group_by("test", indices({2, 0, 2, 5, 0, 2}, device()), 7);
  EXPECT_EQ(values_of(groups.order), (std::vector<double>{1, 4, 0, 2, 5, 3}));
  EXPECT_EQ(values_of(groups.starts), (std::vector<double>{0, 2, 2, 5, 5, 5, 6, 6}));
}

// In f32, 1e8 + 1 = 1e8, so only the order of the items gives these sums: 1 is lost before -1e8 is
// added, but not after.
TEST_P(ParallelForEach, GroupsAreSummedInOrder) {
  const Array items = Array::empty({4, 2}, kFloat);
  const float values[] = {1e8F, 1, 1, 2, -1e8F, 3, 1, 4};
  std::copy_n(values, 8, items.data_as<float>());
  const detail::Grouping groups = detail::group_by("test", indices({1, 1, 1, 1}, device()), 2);
  const Array sums = Array::empty({2, 2}, kFloat, device());
  detail::sum_groups("test", sums, {}, items.to(device()), groups, 1, 2);
  EXPECT_EQ(values_of(sums), (std::vector<double>{0, 0, 1, 10}));
  const Array initial = Array::full({2, 2}, 5, kFloat, device());
  detail::sum_groups("test", sums, initial, items.to(device()), groups, 1, 2, 1);
  EXPECT_EQ(values_of(sums), (std::vector<double>{5, 5, 5, 5}));
}

}  // namespace
}  // namespace halfgrad
