#include <gtest/gtest.h>

#include <functional>

#include <halfgrad/testing/bad_elements.h>

namespace halfgrad::testing {
namespace {

/// The elements of a matrix for which `is_bad(row, column)` holds.
BadElements where(const Shape& shape,
                  const std::function<bool(std::int64_t, std::int64_t)>& is_bad) {
  BadElements bad{shape, {}, {}};
  for (std::int64_t i = 0; i < numel(shape); ++i) {
    if (is_bad(i / shape.back(), i % shape.back())) bad.wrong.push_back(i);
  }
  return bad;
}

TEST(BadElements, IndicesAreTuples) {
  EXPECT_EQ(index_tuple(3 * 17 + 2, {5, 17}), "(3, 2)");
  EXPECT_EQ(index_tuple(23, {2, 3, 4}), "(1, 2, 3)");
  EXPECT_EQ(index_tuple(7, {9}), "(7)");
  EXPECT_EQ(index_tuple(0, {}), "()");
}

TEST(BadElements, PatternsHaveNames) {
  const Shape shape = {20, 37};
  const auto named = [&](auto is_bad) { return pattern_of(where(shape, is_bad)); };
  EXPECT_EQ(named([](auto, auto c) { return c >= 16; }), "columns 16 and above");
  EXPECT_EQ(named([](auto, auto c) { return c >= 32; }), "columns 32 and above, the last 5 of 37");
  EXPECT_EQ(named([](auto, auto c) { return c >= 33; }), "the last 4 of 37 columns");
  EXPECT_EQ(named([](auto, auto c) { return c < 5; }), "the first 5 of 37 columns");
  EXPECT_EQ(named([](auto, auto c) { return c == 36; }), "the last column");
  EXPECT_EQ(named([](auto, auto c) { return c == 4; }), "column 4");
  EXPECT_EQ(named([](auto r, auto) { return r % 2 == 1; }), "every second row, from row 1 on");
  EXPECT_EQ(named([](auto, auto c) { return c % 8 == 7; }), "every 8th column, from column 7 on");
  EXPECT_EQ(named([](auto r, auto c) { return r == 19 && c > 33; }),
            "the last 3 of 37 columns, and the last row");
  EXPECT_EQ(named([](auto r, auto c) { return r >= 16 && c >= 16 && c < 32; }),
            "the tile of 16 x 16 at row 16, column 16");
  EXPECT_EQ(named([](auto r, auto c) { return r == c; }), "the diagonal");
  EXPECT_EQ(named([](auto r, auto c) { return c > r; }), "above the diagonal");
  EXPECT_EQ(named([](auto, auto) { return true; }), "every element");
  EXPECT_EQ(named([](auto r, auto c) { return (r * 7 + c * 5) % 11 == 0; }), "");
  EXPECT_EQ(named([](auto r, auto c) { return r == 3 && c == 3; }), "") << "one element";
  EXPECT_EQ(pattern_of(where({40}, [](auto, auto c) { return c >= 32; })), "elements 32 and above");
}

TEST(BadElements, CountsAndMaps) {
  const BadElements bad =
      where({3, 20}, [](auto r, auto c) { return c >= 16 || (r == 2 && c == 0); });
  const BadCounts counts = counts_of(bad);
  EXPECT_EQ(counts.last_row, 5);
  EXPECT_EQ(counts.last_column, 3);
  EXPECT_EQ(counts.every_eighth_column, 4);
  EXPECT_EQ(counts.tiles[0].bad, 2);
  EXPECT_EQ(counts.tiles[0].all, 2);
  EXPECT_EQ(counts.tiles[1].all, 1);
  const std::vector<std::string> lines = {"................####", "................####",
                                          "#...............####"};
  EXPECT_EQ(map_of(bad).lines, lines);
  const BadMap wide = map_of(where({1, 130}, [](auto, auto c) { return c >= 125; }));
  EXPECT_EQ(wide.columns_each, 3);
  EXPECT_EQ(wide.lines, std::vector<std::string>{std::string(41, '.') + "+#" + "#"});
  EXPECT_TRUE(map_of({{0, 4}, {}, {}}).lines.empty());
}

}  // namespace
}  // namespace halfgrad::testing
