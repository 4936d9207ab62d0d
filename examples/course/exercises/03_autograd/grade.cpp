// Checks the derivative against an exact form and against finite differences, and the order on
// graphs of several shapes.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "exercise.h"
#include "grade.h"

namespace {

// A graph of named nodes.
class Graph {
 public:
  Node* leaf(double value) {
    nodes_.push_back(std::make_unique<Node>());
    nodes_.back()->value = value;
    return nodes_.back().get();
  }
  Node* add(Node* a, Node* b) {
    Node* const y = leaf(a->value + b->value);
    y->inputs = {a, b};
    y->backward = [=] {
      a->grad += y->grad;
      b->grad += y->grad;
    };
    return y;
  }
  Node* mul(Node* a, Node* b) {
    Node* const y = leaf(a->value * b->value);
    y->inputs = {a, b};
    y->backward = [=] {
      a->grad += y->grad * b->value;
      b->grad += y->grad * a->value;
    };
    return y;
  }
  std::size_t size() const { return nodes_.size(); }
  std::string name(const Node* node) const {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].get() == node) return "node " + std::to_string(i);
    }
    return "a node that is not in the graph";
  }

 private:
  std::vector<std::unique_ptr<Node>> nodes_;
};

// Returns a mistake in the order, in words, or an empty text.
std::string mistake(const Graph& graph, const std::vector<Node*>& order,
                    std::size_t expected_count) {
  std::map<const Node*, std::size_t> place;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!place.emplace(order[i], i).second) return graph.name(order[i]) + " twice";
  }
  for (const auto& [node, at] : place) {
    for (const Node* input : node->inputs) {
      if (place.count(input) == 0) return graph.name(input) + ", an input, is missing";
      if (place.at(input) < at) {
        return graph.name(input) + " at place " + std::to_string(place.at(input)) + ", before " +
               graph.name(node) + " at place " + std::to_string(at) + ", which uses it";
      }
    }
  }
  if (order.size() != expected_count) {
    return std::to_string(order.size()) + " nodes instead of " + std::to_string(expected_count);
  }
  return "";
}

void check_order(grade::Grader& grader, const std::string& name, const Graph& graph, Node* output,
                 std::size_t count) {
  grader.run(name, [&] {
    const std::string wrong = mistake(graph, backward_order(output), count);
    grader.yes(name, "each of " + std::to_string(count) + " nodes once, before its inputs",
               wrong.empty(), wrong);
  });
}

void check_gradient(grade::Grader& grader, const std::string& name, const std::string& formula,
                    Node* output, Node* x, double expected) {
  grader.run(name, [&] {
    output->grad = 1;
    for (Node* node : backward_order(output)) {
      if (node->backward) node->backward();
    }
    grader.same(name, formula, {expected}, {x->grad}, {.relative = 4 * 0x1p-53});
  });
}

// 1 / (1 + exp(-x)) in long double.
double exact_slope(double x) {
  return static_cast<double>(1 / (1 + std::exp(-static_cast<long double>(x))));
}

double by_differences(double x) {
  const double h = 1e-4;
  return (std::log1p(std::exp(x + h)) - std::log1p(std::exp(x - h))) / (2 * h);
}

// A node of a random graph adds or multiplies two earlier ones.
Node* random_graph(Graph& graph, std::uint64_t seed, std::vector<Node*>& reachable) {
  std::mt19937_64 random(seed + 11);
  std::vector<Node*> nodes = {graph.leaf(1.0), graph.leaf(0.5)};
  for (int i = 0; i < 60; ++i) {
    Node* const a = nodes[random() % nodes.size()];
    Node* const b = nodes[nodes.size() - 1 - random() % std::min<std::size_t>(nodes.size(), 4)];
    nodes.push_back(random() % 2 == 0 ? graph.add(a, b) : graph.mul(a, b));
  }
  std::vector<Node*> open = {nodes.back()};
  while (!open.empty()) {
    Node* const node = open.back();
    open.pop_back();
    if (std::count(reachable.begin(), reachable.end(), node) > 0) continue;
    reachable.push_back(node);
    open.insert(open.end(), node->inputs.begin(), node->inputs.end());
  }
  return nodes.back();
}

}  // namespace

int main(int argc, char** argv) {
  grade::Grader grader(argc, argv);
  const grade::Budget eight_roundoffs = {.relative = 8 * 0x1p-53};
  grader.hint("d/dx log(1 + exp(x)) = exp(x) / (1 + exp(x)), the sigmoid");
  grader.each("softplus_slope against finite differences", {0, 0.5, -1, 2, 3.5, -4}, softplus_slope,
              by_differences, {.absolute = 1e-7});
  grader.each("softplus_slope to 8 roundoffs", {0, 0.1, -0.1, 1, -1, 5, -5, 20, -20},
              softplus_slope, exact_slope, eight_roundoffs);
  grader.hint("exp(1000) is infinite, and inf / inf is NaN: use exp(-|x|)");
  grader.each("softplus_slope of large magnitudes", {700, -700, 710, 1000, 1e300, -1e300},
              softplus_slope, exact_slope, {.absolute = 1e-300, .relative = 8 * 0x1p-53});

  Graph graph;
  Node* const x = graph.leaf(3);
  check_order(grader, "order of a leaf", graph, x, 1);
  Node* const square = graph.mul(x, x);
  check_order(grader, "order of x * x", graph, square, 2);
  Node* const three = graph.leaf(3);
  Node* const product = graph.mul(three, square);
  Node* const y = graph.add(square, product);
  graph.add(y, x);  // y does not depend on it
  grader.hint("square has two uses: it comes after both of them");
  check_order(grader, "order of x^2 + 3 x^2", graph, y, 5);
  check_gradient(grader, "gradient of x^2 + 3 x^2 at x = 3", "8 x", y, x, 24);

  Graph random;
  std::vector<Node*> reachable;
  Node* const last = random_graph(random, grader.seed(), reachable);
  check_order(grader, "order of a random graph", random, last, reachable.size());

  Graph doubling;
  Node* const one = doubling.leaf(1);
  Node* power = one;
  for (int i = 0; i < 60; ++i) power = doubling.add(power, power);
  grader.hint("there are 2^60 paths from the end to the start: visit each node once");
  check_gradient(grader, "60 doublings", "2^60 x", power, one, 0x1p60);

  Graph chain;
  Node* const start = chain.leaf(1);
  Node* end = start;
  for (int i = 0; i < 200000; ++i) end = chain.add(end, start);
  grader.hint(
      "recursion needs a frame of the machine's stack for each node: use a stack of your own");
  check_gradient(grader, "a chain of 200,000 nodes", "200,001 x", end, start, 200001);
  return grader.finish();
}
