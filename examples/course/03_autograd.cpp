// Chapter 3: autograd in 200 lines. Trains a network with the engine of 03_autograd/engine.h and
// compares its gradients with finite differences and with halfgrad's.
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "03_autograd/drawing.h"
#include "03_autograd/engine.h"
#include "03_autograd/fit.h"
#include "course.h"

namespace {

using engine::Matrix;
using engine::Node;
using engine::Tensor;

// Runs each node's derivative when the node is first reached: depth first, not in order. Wrong.
void backward_when_reached(Node* node, std::unordered_set<Node*>& seen) {
  if (!seen.insert(node).second) return;
  if (node->backward) node->backward(node->grad);
  for (const auto& input : node->inputs) backward_when_reached(input.get(), seen);
}

// y = 3 a + a with a = x^2: a has two uses. dy/dx = 8 x.
void print_order(course::Chapter& chapter) {
  std::printf("y = a + 3 a with a = x^2, at x = 3: dy/dx = 8 x = 24\n");
  const auto make = [](const Tensor& x) {
    const Tensor a = x * x;
    return a + Tensor(Matrix(1, 1, 3)) * a;
  };
  const Tensor x(Matrix(1, 1, 3));
  const Tensor y = make(x);
  chapter.fact("nodes", static_cast<double>(backward_order(y).size()));
  backward(y);
  chapter.fact("gradient_in_order", x.grad().data[0]);
  const Tensor other(Matrix(1, 1, 3));
  const Tensor wrong = make(other);
  wrong.grad().data[0] = 1;
  std::unordered_set<Node*> seen;
  backward_when_reached(wrong.node().get(), seen);
  chapter.fact("gradient_when_reached", other.grad().data[0]);
}

void print_long_chain(course::Chapter& chapter) {
  std::printf("\nA chain of 10,000 additions\n");
  const Tensor x(Matrix(1, 1, 1));
  Tensor y = x;
  for (int i = 0; i < 10000; ++i) y = y + x;
  backward(y);
  chapter.fact("chain_gradient", x.grad().data[0]);
  chapter.fact("chain_nodes", static_cast<double>(backward_order(y).size()));
}

void print_checks(course::Chapter& chapter, const fit::Network& network, const char* when) {
  std::printf("\nGradients of the network %s training\n", when);
  const double by_differences = fit::error_against_differences(network);
  const double by_halfgrad = fit::error_against_halfgrad(network);
  std::printf("largest relative error: %.1e against differences, %.1e against halfgrad\n",
              by_differences, by_halfgrad);
  const std::string name = std::string("_") + when;
  chapter.fact("differences_within_1e_minus_7" + name, by_differences < 1e-7 ? "yes" : "no");
  chapter.fact("halfgrad_within_1e_minus_12" + name, by_halfgrad < 1e-12 ? "yes" : "no");
}

}  // namespace

int main(int argc, char** argv) {
  course::Chapter chapter(argc, argv,
                          {.slug = "03_autograd",
                           .does = "Trains a network with an autograd engine of 200 lines.",
                           .steps = 1000});
  return chapter.run([&] {
    print_order(chapter);
    print_long_chain(chapter);
    const fit::Network network = fit::make_network(8);
    chapter.fact("loss_nodes",
                 static_cast<double>(backward_order(loss_of(network, fit::inputs(16),
                                                            fit::targets(fit::inputs(16))))
                                         .size()));
    print_checks(chapter, network, "before");
    const Matrix before = network(fit::inputs(65)).value();
    const std::vector<double> losses = fit::train(network, chapter.steps(), 0.2);
    std::printf("\nTraining\n");
    chapter.fact("steps", chapter.steps());
    chapter.fact("first_loss", losses.front());
    chapter.fact("last_loss", losses.back());
    print_checks(chapter, network, "after");
    chapter.picture("graph", draw_graph());
    chapter.picture("fit", draw_fit(before, network(fit::inputs(65)).value()));
    chapter.picture("loss", draw_losses(losses));
  });
}
