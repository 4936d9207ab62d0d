#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/eigen.h>

namespace halfgrad {
namespace {

using Values = std::vector<double>;

template <class Scalar>
void expect_copied(DType dtype) {
  SCOPED_TRACE(std::string(name(dtype)));
  Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> column_major(2, 3);
  column_major << Scalar(0), Scalar(1), Scalar(2), Scalar(3), Scalar(4), Scalar(5);
  const Tensor copy = from_eigen(column_major);
  EXPECT_EQ(copy.dtype(), dtype);
  EXPECT_TRUE(copy.is_contiguous());
  EXPECT_TRUE(equal(copy, arange(6).reshape({2, 3}).to(dtype))) << copy;
  column_major(0, 0) = Scalar(9);
  EXPECT_EQ(copy.select(0, 0).select(0, 0).item(), 0);
}

TEST(FromEigen, EveryScalarKeepsItsDType) {
  expect_copied<double>(kDouble);
  expect_copied<float>(kFloat);
  expect_copied<Eigen::half>(kHalf);
  expect_copied<Eigen::bfloat16>(kBFloat16);
  expect_copied<std::int64_t>(kLong);
  expect_copied<std::int32_t>(kInt);
  expect_copied<std::uint8_t>(kByte);
}

TEST(FromEigen, TakesAnyDenseExpression) {
  Eigen::Matrix<float, 2, 3, Eigen::RowMajor> row_major;
  row_major << 1, 2, 3, 4, 5, 6;
  EXPECT_EQ(from_eigen(row_major).to_vector<double>(), (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(from_eigen(row_major.transpose()).to_vector<double>(), (Values{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(from_eigen(row_major.block(0, 1, 2, 2)).to_vector<double>(), (Values{2, 3, 5, 6}));
  EXPECT_EQ(from_eigen(row_major.array().square()).to_vector<double>(),
            (Values{1, 4, 9, 16, 25, 36}));
  EXPECT_EQ(from_eigen(row_major * row_major.transpose()).to_vector<double>(),
            (Values{14, 32, 32, 77}));
  EXPECT_EQ(from_eigen(row_major.cast<double>()).dtype(), kDouble);
  EXPECT_TRUE(equal(from_eigen(row_major.array() > 3),
                    tensor({{false, false, false}, {true, true, true}})));
  EXPECT_TRUE(equal(from_eigen(Eigen::MatrixXf::Identity(3, 3)), eye(3)));
}

TEST(FromEigen, VectorsAtCompileTimeHaveOneDimension) {
  const Eigen::MatrixXf one_column = Eigen::MatrixXf::Ones(4, 1);
  EXPECT_EQ(from_eigen(Eigen::VectorXf::Ones(4)).sizes(), Shape({4}));
  EXPECT_EQ(from_eigen(Eigen::RowVector3d(1, 2, 3)).to_vector<double>(), (Values{1, 2, 3}));
  EXPECT_EQ(from_eigen(one_column).sizes(), Shape({4, 1}));
  EXPECT_EQ(from_eigen(one_column.col(0)).sizes(), Shape({4}));
  EXPECT_EQ(from_eigen(Eigen::ArrayXd(0)).sizes(), Shape({0}));
  EXPECT_EQ(from_eigen(Eigen::MatrixXd(0, 3)).sizes(), Shape({0, 3}));
}

TEST(FromEigen, TheResultIsAPlainTensor) {
  Tensor weight = from_eigen(Eigen::MatrixXf::Constant(2, 2, 3)).requires_grad_();
  (weight * weight).sum().backward();
  EXPECT_EQ(weight.grad().to_vector<double>(), (Values{6, 6, 6, 6}));
}

TEST(ShareEigen, WritesShowOnBothSides) {
  Eigen::MatrixXf matrix(2, 3);
  matrix << 0, 1, 2, 3, 4, 5;
  const Tensor shared = share_eigen(matrix);
  EXPECT_EQ(shared.strides(), Shape({1, 2}));
  EXPECT_EQ(shared.to_vector<double>(), (Values{0, 1, 2, 3, 4, 5}));
  matrix(1, 2) = 50;
  shared.select(0, 0).fill_(-1);
  EXPECT_EQ(shared.to_vector<double>(), (Values{-1, -1, -1, 3, 4, 50}));
  EXPECT_EQ(matrix.row(0), Eigen::RowVector3f(-1, -1, -1));
}

TEST(ShareEigen, VectorsMapsAndBlocksKeepTheirStrides) {
  Eigen::Matrix<double, 4, 4, Eigen::RowMajor> matrix =
      Eigen::Matrix<double, 4, 4>::NullaryExpr([](auto i, auto j) { return double(4 * i + j); });
  auto column = matrix.col(2);
  EXPECT_EQ(share_eigen(column).strides(), Shape({4}));
  EXPECT_EQ(share_eigen(column).to_vector<double>(), (Values{2, 6, 10, 14}));
  auto block = matrix.block(1, 1, 2, 3);
  EXPECT_EQ(share_eigen(block).to_vector<double>(), (Values{5, 6, 7, 9, 10, 11}));
  Eigen::VectorXi vector = Eigen::VectorXi::Zero(3);
  share_eigen(vector).fill_(7);
  EXPECT_EQ(vector.sum(), 21);
  Eigen::MatrixXd empty(0, 3);
  EXPECT_EQ(share_eigen(empty).sizes(), Shape({0, 3}));
}

TEST(ShareEigen, AMapOfATensorSharesThatTensor) {
  Tensor tensor = zeros({2, 3}, kHalf);
  auto map = eigen_map<Eigen::half>(tensor);
  share_eigen(map).fill_(2);
  EXPECT_EQ(tensor.sum().item(), 12);
}

template <class T>
concept Shareable = requires(T&& matrix) {
  share_eigen(std::forward<T>(matrix));
};
static_assert(Shareable<Eigen::MatrixXf&>);
static_assert(!Shareable<Eigen::MatrixXf>, "a temporary's memory ends with the statement");
static_assert(!Shareable<const Eigen::MatrixXf&>, "a tensor can be written");
using ConstMap = Eigen::Map<const Eigen::MatrixXf>;
static_assert(!Shareable<ConstMap&>, "a tensor can be written");

}  // namespace
}  // namespace halfgrad
