#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/autograd/table/doubles.h>

namespace halfgrad {
namespace {

std::string printed(const Tensor& t) {
  std::ostringstream out;
  out << t;
  return out.str();
}

TEST(Print, NestsAndAligns) {
  EXPECT_EQ(printed(tensor(3.5)), "3.5000");
  EXPECT_EQ(printed(tensor({1.0, -2.5})), "[ 1.0000, -2.5000]");
  EXPECT_EQ(printed(tensor({{1.0, 2.5}, {3.0, 14.0}})),
            "[[ 1.0000,  2.5000],\n"
            " [ 3.0000, 14.0000]]");
  EXPECT_EQ(printed(tensor({{{1}, {2}}, {{3}, {4}}})),
            "[[[1],\n"
            "  [2]],\n"
            "\n"
            " [[3],\n"
            "  [4]]]");
}

TEST(Print, WritesEveryKindOfValue) {
  const double nan = std::copysign(std::numeric_limits<double>::quiet_NaN(), 1.0);
  EXPECT_EQ(printed(tensor({1, -20})), "[  1, -20]");
  EXPECT_EQ(printed(tensor({true, false})), "[ true, false]");
  EXPECT_EQ(printed(tensor(std::vector<std::int64_t>{9007199254740993})), "[9007199254740993]");
  EXPECT_EQ(printed(tensor({1.0, kInf, -kInf})), "[1.0000,    inf,   -inf]");
  EXPECT_EQ(printed(tensor({1.0, nan, -nan})), "[1.0000,    nan,    nan]");
  EXPECT_EQ(printed(tensor({nan, -nan}, {.dtype = kHalf})), "[nan, nan] (dtype=float16)");
  EXPECT_EQ(printed(tensor({1e10, -2.0})), "[ 1.0000e+10, -2.0000e+00]");
  EXPECT_EQ(printed(tensor({1e-6, 0.0})), "[1.0000e-06, 0.0000e+00]");
  EXPECT_EQ(printed(tensor({0.5, 0.25}).slice(0, 1)), "[0.2500]");
}

TEST(Print, NotesDTypeShapeAndGraph) {
  EXPECT_EQ(printed(Tensor()), "undefined");
  EXPECT_EQ(printed(tensor({1.0}, {.dtype = kHalf})), "[1.0000] (dtype=float16)");
  EXPECT_EQ(printed(tensor({1}, {.dtype = kInt})), "[1] (dtype=int32)");
  EXPECT_EQ(printed(zeros({0, 3})), "[] (shape=[0, 3])");
  const Tensor x = tensor({1.0}, {.dtype = kDouble, .requires_grad = true});
  EXPECT_EQ(printed(x), "[1.0000] (dtype=float64, requires_grad=true)");
  EXPECT_EQ(printed(x * 2), "[2.0000] (dtype=float64, grad_fn=<mul>)");
}

TEST(Print, BreaksLongLines) {
  EXPECT_EQ(printed(arange(30)),
            "[ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17, 18,\n"
            " 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29]");
}

TEST(Print, SummarizesAboveAThousandElements) {
  EXPECT_EQ(printed(arange(1001)), "[   0,    1,    2, ...,  998,  999, 1000] (shape=[1001])");
  EXPECT_EQ(printed(arange(1002).reshape({501, 2})),
            "[[   0,    1],\n"
            " [   2,    3],\n"
            " [   4,    5],\n"
            " ...,\n"
            " [ 996,  997],\n"
            " [ 998,  999],\n"
            " [1000, 1001]] (shape=[501, 2])");
}

TEST(Print, LeavesTheStreamAsItWas) {
  std::ostringstream out;
  out << std::hex << std::setprecision(2) << tensor({{1.0, 17.0}}) << 255;
  EXPECT_EQ(out.str(), "[[ 1.0000, 17.0000]]ff");
}

}  // namespace
}  // namespace halfgrad
