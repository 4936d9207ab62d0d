#include <cstdint>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <halfgrad/core/allocator.h>
#include <halfgrad/core/array.h>

/// Arrays in memory that the caller owns.
namespace halfgrad {
namespace {

struct Foreign {
  float values[6] = {0, 1, 2, 3, 4, 5};
  int released = 0;

  Array array(const Shape& sizes = {2, 3}, const Shape& strides = {3, 1}) {
    return Array::from_blob(values, sizes, strides, kFloat, [this] { ++released; });
  }
};

TEST(FromBlob, SharesTheMemory) {
  Foreign foreign;
  const std::int64_t before = allocator::stats({}).current;
  const Array array = foreign.array();
  EXPECT_EQ(allocator::stats({}).current, before);
  EXPECT_EQ(array.data(), reinterpret_cast<std::byte*>(foreign.values));
  EXPECT_EQ(array.storage()->bytes(), sizeof(foreign.values));
  array.select(0, 1).fill_(9);
  EXPECT_EQ(foreign.values[2], 2);
  EXPECT_EQ(foreign.values[3], 9);
  foreign.values[0] = 7;
  EXPECT_EQ(array.select(0, 0).select(0, 0).item(), 7);
}

TEST(FromBlob, KeepsTheGivenStrides) {
  Foreign foreign;
  const Array columns = foreign.array({3, 2}, {1, 3});
  EXPECT_EQ(columns.select(0, 2).select(0, 1).item(), 5);
  EXPECT_FALSE(columns.is_contiguous());
  const Array corners = foreign.array({2, 2}, {3, 2});
  EXPECT_EQ(corners.contiguous().data_as<float>()[3], 5);
  const Array repeated = foreign.array({4}, {0});
  EXPECT_EQ(repeated.storage()->bytes(), sizeof(float));
  EXPECT_TRUE(repeated.repeats_elements());
  EXPECT_FALSE(foreign.array({4, 0}, {0, 1}).repeats_elements());
}

TEST(FromBlob, IsReleasedOnceWithTheLastView) {
  Foreign foreign;
  Array view, copy;
  {
    const Array array = foreign.array();
    view = array.transpose(0, 1).slice(0, 1, 3);
    copy = array.clone();
  }
  EXPECT_EQ(foreign.released, 0);
  std::thread([last = std::exchange(view, {})] {}).join();
  EXPECT_EQ(foreign.released, 1);
  EXPECT_EQ(copy.select(0, 1).select(0, 2).item(), 5);
  copy = {};
  EXPECT_EQ(foreign.released, 1);
}

TEST(FromBlob, ReleasesAnEmptyArrayToo) {
  int released = 0;
  for (const Shape& sizes : {Shape{0}, Shape{3, 0}, Shape{0, 0}}) {
    const Shape far = sizes.size() == 1 ? Shape{INT64_MAX} : Shape{INT64_MAX, INT64_MAX};
    EXPECT_EQ(Array::from_blob(nullptr, sizes, far, kDouble, [&] { ++released; }).numel(), 0);
  }
  EXPECT_EQ(released, 3);
}

TEST(FromBlob, DoesNotReleaseOnError) {
  const struct {
    const char* name;
    Shape sizes, strides;
  } list[] = {
      {"too few strides", {2, 3}, {3}},
      {"strides of no dimension", {}, {1}},
      {"negative size", {2, -3}, {3, 1}},
      {"negative stride", {2, 3}, {3, -1}},
      {"sizes beyond 2^63", {1LL << 32, 1LL << 32}, {0, 0}},
      {"reach beyond 2^63", {3}, {INT64_MAX / 2 + 1}},
      {"sum of reaches beyond 2^63", {2, 2}, {INT64_MAX / 2, INT64_MAX / 2 + 2}},
      {"bytes beyond 2^63", {2}, {INT64_MAX / 4}},
  };
  for (const auto& [name, sizes, strides] : list) {
    Foreign foreign;
    EXPECT_THROW(foreign.array(sizes, strides), std::invalid_argument) << name;
    EXPECT_EQ(foreign.released, 0) << name;
  }
}

}  // namespace
}  // namespace halfgrad
