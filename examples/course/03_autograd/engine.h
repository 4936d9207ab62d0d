#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

/// A complete reverse-mode autograd engine: matrices, a graph, six operations and backward().
namespace engine {

/// A matrix of doubles, row after row.
struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> data = {};

  Matrix() = default;
  Matrix(std::size_t r, std::size_t c, double value = 0)
      : rows(r), columns(c), data(r * c, value) {}
  Matrix(std::size_t r, std::size_t c, std::vector<double> values)
      : rows(r), columns(c), data(std::move(values)) {
    if (data.size() != r * c) throw std::invalid_argument("Matrix: expected rows * columns values");
  }
  double& at(std::size_t i, std::size_t j) { return data[i * columns + j]; }
  double at(std::size_t i, std::size_t j) const { return data[i * columns + j]; }
};

/// One operation of the forward pass: its result, its inputs, and its derivative.
struct Node {
  Matrix value;
  Matrix grad;  ///< dloss/dvalue: the sum over all uses of the value
  std::vector<std::shared_ptr<Node>> inputs;
  /// Adds to the gradients of the inputs, given this node's gradient. Empty for a leaf.
  std::function<void(const Matrix& dy)> backward;
};

/// A handle to a node: what users hold.
class Tensor {
 public:
  /// A leaf: data, or a parameter.
  explicit Tensor(Matrix value) : node_(std::make_shared<Node>()) {
    node_->grad = Matrix(value.rows, value.columns);
    node_->value = std::move(value);
  }
  /// The result of an operation.
  Tensor(Matrix value, const std::vector<Tensor>& inputs,
         std::function<void(const Matrix&)> backward)
      : Tensor(std::move(value)) {
    for (const Tensor& input : inputs) node_->inputs.push_back(input.node_);
    node_->backward = std::move(backward);
  }
  Matrix& value() const { return node_->value; }
  Matrix& grad() const { return node_->grad; }
  const std::shared_ptr<Node>& node() const { return node_; }

 private:
  std::shared_ptr<Node> node_;
};

inline void expect(bool holds, const std::string& message) {
  if (!holds) throw std::invalid_argument(message);
}

/// y = a b.    da = dy b^T,    db = a^T dy
inline Tensor matmul(const Tensor& a, const Tensor& b) {
  expect(a.value().columns == b.value().rows, "matmul: expected [n, k] and [k, m]");
  const std::size_t rows = a.value().rows, inner = b.value().rows, columns = b.value().columns;
  Matrix y(rows, columns);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < inner; ++k) {
      for (std::size_t j = 0; j < columns; ++j) {
        y.at(i, j) += a.value().at(i, k) * b.value().at(k, j);
      }
    }
  }
  return {y, {a, b}, [=](const Matrix& dy) {
            for (std::size_t i = 0; i < rows; ++i) {
              for (std::size_t k = 0; k < inner; ++k) {
                for (std::size_t j = 0; j < columns; ++j) {
                  a.grad().at(i, k) += dy.at(i, j) * b.value().at(k, j);
                  b.grad().at(k, j) += a.value().at(i, k) * dy.at(i, j);
                }
              }
            }
          }};
}

/// y = a + row, where `row` is added to every row of a.    da = dy,    drow = sum of dy's rows
inline Tensor add_row(const Tensor& a, const Tensor& row) {
  expect(row.value().rows == 1 && row.value().columns == a.value().columns,
         "add_row: expected [n, m] and [1, m]");
  Matrix y = a.value();
  for (std::size_t i = 0; i < y.data.size(); ++i) y.data[i] += row.value().data[i % y.columns];
  return {y, {a, row}, [=](const Matrix& dy) {
            for (std::size_t i = 0; i < dy.data.size(); ++i) {
              a.grad().data[i] += dy.data[i];
              row.grad().data[i % dy.columns] += dy.data[i];
            }
          }};
}

/// An elementwise operation of two matrices: y = value(a, b), with the partial derivatives by a, b.
template <class Value, class SlopeA, class SlopeB>
Tensor elementwise(const Tensor& a, const Tensor& b, Value value, SlopeA slope_a, SlopeB slope_b) {
  expect(a.value().rows == b.value().rows && a.value().columns == b.value().columns,
         "elementwise: expected two matrices of one shape");
  Matrix y = a.value();
  for (std::size_t i = 0; i < y.data.size(); ++i) y.data[i] = value(y.data[i], b.value().data[i]);
  return {y, {a, b}, [=](const Matrix& dy) {
            for (std::size_t i = 0; i < dy.data.size(); ++i) {
              const double ai = a.value().data[i], bi = b.value().data[i];
              a.grad().data[i] += dy.data[i] * slope_a(ai, bi);
              b.grad().data[i] += dy.data[i] * slope_b(ai, bi);
            }
          }};
}

inline Tensor operator+(const Tensor& a, const Tensor& b) {
  return elementwise(
      a, b, [](double x, double z) { return x + z; }, [](double, double) { return 1.0; },
      [](double, double) { return 1.0; });
}

inline Tensor operator-(const Tensor& a, const Tensor& b) {
  return elementwise(
      a, b, [](double x, double z) { return x - z; }, [](double, double) { return 1.0; },
      [](double, double) { return -1.0; });
}

inline Tensor operator*(const Tensor& a, const Tensor& b) {
  return elementwise(
      a, b, [](double x, double z) { return x * z; }, [](double, double z) { return z; },
      [](double x, double) { return x; });
}

/// y = tanh(x).    dx = dy (1 - y^2)
inline Tensor tanh(const Tensor& x) {
  Matrix y = x.value();
  for (double& element : y.data) element = std::tanh(element);
  return {y, {x}, [=](const Matrix& dy) {
            for (std::size_t i = 0; i < dy.data.size(); ++i) {
              x.grad().data[i] += dy.data[i] * (1 - y.data[i] * y.data[i]);
            }
          }};
}

/// y = mean of all elements.    dx = dy / n
inline Tensor mean(const Tensor& x) {
  const auto n = static_cast<double>(x.value().data.size());
  double total = 0;
  for (const double element : x.value().data) total += element;
  return {Matrix(1, 1, total / n), {x}, [=](const Matrix& dy) {
            for (double& element : x.grad().data) element += dy.data[0] / n;
          }};
}

/// All nodes that `output` depends on, each before its inputs: depth first, without recursion.
inline std::vector<Node*> backward_order(const Tensor& output) {
  std::vector<Node*> inputs_first;
  std::unordered_set<Node*> seen = {output.node().get()};
  std::vector<std::pair<Node*, std::size_t>> path = {{output.node().get(), 0}};
  while (!path.empty()) {
    auto& [node, next] = path.back();
    if (next == node->inputs.size()) {  // all inputs are listed: now the node itself
      inputs_first.push_back(node);
      path.pop_back();
      continue;
    }
    Node* const input = node->inputs[next++].get();
    if (seen.insert(input).second) path.emplace_back(input, 0);
  }
  return {inputs_first.rbegin(), inputs_first.rend()};
}

/// Computes dloss/dvalue for every node that the loss depends on, and adds it to `grad`.
inline void backward(const Tensor& loss) {
  expect(loss.value().data.size() == 1, "backward: expected a loss of one element");
  loss.grad().data[0] = 1;
  for (Node* const node : backward_order(loss)) {
    if (node->backward) node->backward(node->grad);
  }
}

}  // namespace engine
