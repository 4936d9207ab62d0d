// The installed <halfgrad/eigen.h>: a tensor made of an Eigen matrix, and read by Eigen again.

#include <cstdio>

#include <halfgrad/eigen.h>
#include <halfgrad/halfgrad.h>

namespace hg = halfgrad;

int main() {
  const Eigen::MatrixXf matrix = Eigen::MatrixXf::Constant(2, 3, 1.5f);
  const hg::Tensor product = hg::matmul(hg::from_eigen(matrix), hg::from_eigen(matrix.transpose()));
  const float difference = (hg::eigen_map<float>(product) - matrix * matrix.transpose()).norm();
  std::printf("largest difference %g\n", difference);
  return difference == 0 ? 0 : 1;
}
