#include "fit.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <halfgrad/halfgrad.h>
namespace hg = halfgrad;

namespace fit {
namespace {

using engine::Matrix;
using engine::Tensor;

// A linear congruential generator (Park, Miller and Stockmeyer 1993).
class Sequence {
 public:
  double next() {
    state_ = state_ * 48271 % 2147483647;
    return 2 * static_cast<double>(state_) / 2147483647.0 - 1;
  }
  Matrix matrix(std::size_t rows, std::size_t columns, double scale) {
    Matrix m(rows, columns);
    for (double& element : m.data) element = scale * next();
    return m;
  }

 private:
  std::uint64_t state_ = 3;
};

hg::Tensor as_halfgrad(const Matrix& m, bool requires_grad) {
  const auto rows = static_cast<std::int64_t>(m.rows),
             columns = static_cast<std::int64_t>(m.columns);
  return hg::tensor(m.data, hg::kFloat64).reshape({rows, columns}).requires_grad_(requires_grad);
}

// Sets all gradients to 0: backward() adds to them.
void zero_gradients(const Network& network) {
  for (const Tensor& parameter : network.parameters()) {
    std::fill(parameter.grad().data.begin(), parameter.grad().data.end(), 0);
  }
}

}  // namespace

Network make_network(std::size_t hidden) {
  Sequence sequence;
  const double scale = 1 / std::sqrt(static_cast<double>(hidden));
  const Tensor w1(sequence.matrix(1, hidden, 3));
  const Tensor b1(sequence.matrix(1, hidden, 1));
  const Tensor w2(sequence.matrix(hidden, 1, scale));
  return {w1, b1, w2, Tensor(Matrix(1, 1))};
}

Tensor inputs(std::size_t count) {
  Matrix x(count, 1);
  for (std::size_t i = 0; i < count; ++i) {
    x.data[i] = 2 * static_cast<double>(i) / static_cast<double>(count - 1) - 1;
  }
  return Tensor(x);
}

Tensor targets(const Tensor& x) {
  Matrix y = x.value();
  for (double& element : y.data) element = std::sin(3 * element);
  return Tensor(y);
}

Tensor loss_of(const Network& network, const Tensor& x, const Tensor& target) {
  const Tensor error = network(x) - target;
  return mean(error * error);
}

std::vector<double> train(const Network& network, int steps, double lr) {
  const Tensor x = inputs(16);
  const Tensor target = targets(x);
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    zero_gradients(network);
    const Tensor loss = loss_of(network, x, target);
    backward(loss);
    losses.push_back(loss.value().data[0]);
    for (const Tensor& parameter : network.parameters()) {
      for (std::size_t i = 0; i < parameter.value().data.size(); ++i) {
        parameter.value().data[i] -= lr * parameter.grad().data[i];
      }
    }
  }
  return losses;
}

double error_against_differences(const Network& network) {
  const Tensor x = inputs(8);
  const Tensor target = targets(x);
  zero_gradients(network);
  backward(loss_of(network, x, target));
  constexpr double kStep = 1e-5;  // the error of central differences is about kStep^2
  double largest = 0, worst = 0;
  for (const Tensor& parameter : network.parameters()) {
    for (std::size_t i = 0; i < parameter.value().data.size(); ++i) {
      const double kept = parameter.value().data[i];
      parameter.value().data[i] = kept + kStep;
      const double above = loss_of(network, x, target).value().data[0];
      parameter.value().data[i] = kept - kStep;
      const double below = loss_of(network, x, target).value().data[0];
      parameter.value().data[i] = kept;
      const double difference = (above - below) / (2 * kStep);
      worst = std::max(worst, std::fabs(difference - parameter.grad().data[i]));
      largest = std::max(largest, std::fabs(difference));
    }
  }
  return worst / largest;
}

double error_against_halfgrad(const Network& network) {
  const Tensor x = inputs(16);
  const Tensor target = targets(x);
  zero_gradients(network);
  backward(loss_of(network, x, target));

  std::vector<hg::Tensor> theirs;
  for (const Tensor& parameter : network.parameters()) {
    theirs.push_back(as_halfgrad(parameter.value(), true));
  }
  const hg::Tensor hidden = hg::tanh(hg::mm(as_halfgrad(x.value(), false), theirs[0]) + theirs[1]);
  const hg::Tensor y = hg::mm(hidden, theirs[2]) + theirs[3];
  hg::mse_loss(y, as_halfgrad(target.value(), false)).backward();

  double largest = 0, worst = 0;
  for (std::size_t p = 0; p < theirs.size(); ++p) {
    const hg::Tensor gradient = theirs[p].grad().reshape({-1});
    const std::vector<double>& ours = network.parameters()[p].grad().data;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const double expected = gradient[static_cast<std::int64_t>(i)].item();
      worst = std::max(worst, std::fabs(expected - ours[i]));
      largest = std::max(largest, std::fabs(expected));
    }
  }
  return worst / largest;
}

}  // namespace fit
