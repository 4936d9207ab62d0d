"""Chapter 3: autograd in 200 lines, in Python: the engine is autograd_engine.py."""

import math
from collections.abc import Callable

import chart
import course
import halfgrad as hg
from autograd_engine import Matrix, Tensor, add_row, matmul, mean, tanh, zeros


def backward_when_reached(tensor: Tensor, seen: set[Tensor]) -> None:
    """Runs each derivative when the tensor is first reached: depth first, not in order. Wrong."""
    if tensor not in seen:
        seen.add(tensor)
        tensor.apply_derivative()
        for other in tensor.inputs:
            backward_when_reached(other, seen)


def print_order(chapter: course.Chapter) -> None:
    print("y = a + 3 a with a = x^2, at x = 3: dy/dx = 8 x = 24")

    def make(x: Tensor) -> Tensor:
        a = x * x
        return a + Tensor([[3.0]]) * a

    x = Tensor([[3.0]])
    y = make(x)
    chapter.fact("nodes", len(y.backward_order()))
    y.backward()
    chapter.fact("gradient_in_order", x.grad[0][0])
    x = Tensor([[3.0]])
    y = make(x)
    y.grad[0][0] = 1.0
    backward_when_reached(y, set())
    chapter.fact("gradient_when_reached", x.grad[0][0])


def print_long_chain(chapter: course.Chapter) -> None:
    print("\nA chain of 10,000 additions")
    x = Tensor([[1.0]])
    y = x
    for _ in range(10000):
        y = y + x
    y.backward()
    chapter.fact("chain_gradient", x.grad[0][0])
    order = y.backward_order()
    chapter.fact("chain_nodes", len(order))
    for tensor in order:
        tensor.inputs = ()  # a long chain of references would be freed by recursion


class Network:
    """One hidden layer, with weights from a fixed sequence of values in [-1, 1), the same as in C++."""

    def __init__(self, hidden: int) -> None:
        self._state = 3
        self.w1 = Tensor(self._matrix(1, hidden, 3))
        self.b1 = Tensor(self._matrix(1, hidden, 1))
        self.w2 = Tensor(self._matrix(hidden, 1, 1 / math.sqrt(hidden)))
        self.b2 = Tensor(zeros(1, 1))
        self.parameters = [self.w1, self.b1, self.w2, self.b2]

    def _matrix(self, rows: int, columns: int, scale: float) -> Matrix:
        result = zeros(rows, columns)
        for row in result:
            for j in range(columns):
                self._state = self._state * 48271 % 2147483647
                row[j] = scale * (2 * self._state / 2147483647 - 1)
        return result

    def __call__(self, x: Tensor) -> Tensor:
        return add_row(matmul(tanh(add_row(matmul(x, self.w1), self.b1)), self.w2), self.b2)

    def zero_gradients(self) -> None:
        for parameter in self.parameters:
            parameter.grad = zeros(*parameter.shape)


def inputs(count: int) -> Tensor:
    return Tensor([[2 * i / (count - 1) - 1] for i in range(count)])


def targets(x: Tensor) -> Tensor:
    return Tensor([[math.sin(3 * row[0])] for row in x.value])


def loss_of(network: Network, x: Tensor) -> Tensor:
    error = network(x) - targets(x)
    return mean(error * error)


def train(network: Network, steps: int, lr: float) -> list[float]:
    x, losses = inputs(16), []
    for _ in range(steps):
        network.zero_gradients()
        loss = loss_of(network, x)
        loss.backward()
        losses.append(loss.value[0][0])
        for parameter in network.parameters:
            for row, grad_row in zip(parameter.value, parameter.grad):
                for j, gradient in enumerate(grad_row):
                    row[j] -= lr * gradient
    return losses


def error_against(network: Network, count: int, expected_gradients: Callable[[], list[float]]) -> float:
    """The largest difference of a gradient, relative to the largest gradient."""
    network.zero_gradients()
    loss_of(network, inputs(count)).backward()
    ours = [g for parameter in network.parameters for row in parameter.grad for g in row]
    expected = expected_gradients()
    return max(abs(a - b) for a, b in zip(ours, expected)) / max(abs(b) for b in expected)


def by_differences(network: Network, step: float = 1e-5) -> list[float]:
    result, x = [], inputs(8)
    for parameter in network.parameters:
        for row in parameter.value:
            for j, kept in enumerate(row):
                row[j] = kept + step
                above = loss_of(network, x).value[0][0]
                row[j] = kept - step
                below = loss_of(network, x).value[0][0]
                row[j] = kept
                result.append((above - below) / (2 * step))
    return result


def by_halfgrad(network: Network) -> list[float]:
    x = inputs(16)
    w1, b1, w2, b2 = (hg.tensor(parameter.value, dtype=hg.float64, requires_grad=True)
                      for parameter in network.parameters)
    hidden = hg.tanh(hg.mm(hg.tensor(x.value, dtype=hg.float64), w1) + b1)
    y = hg.mm(hidden, w2) + b2
    hg.nn.functional.mse_loss(y, hg.tensor(targets(x).value, dtype=hg.float64)).backward()
    return [g for parameter in (w1, b1, w2, b2) for g in parameter.grad.reshape(-1).tolist()]


def print_checks(chapter: course.Chapter, network: Network, when: str) -> None:
    print(f"\nGradients of the network {when} training")
    differences = error_against(network, 8, lambda: by_differences(network))
    halfgrad = error_against(network, 16, lambda: by_halfgrad(network))
    print(f"largest relative error: {differences:.1e} against differences, {halfgrad:.1e} against halfgrad")
    chapter.fact(f"differences_within_1e_minus_7_{when}", "yes" if differences < 1e-7 else "no")
    chapter.fact(f"halfgrad_within_1e_minus_12_{when}", "yes" if halfgrad < 1e-12 else "no")


def draw_losses(losses: list[float]) -> str:
    return chart.line_chart(
        chart.Chart("The loss during training", chart.Axis("step"), chart.Axis("mean squared error", "log2"),
                    height=280), [chart.Series("", range(len(losses)), losses)])


def main(chapter: course.Chapter) -> None:
    print_order(chapter)
    print_long_chain(chapter)
    network = Network(8)
    chapter.fact("loss_nodes", len(loss_of(network, inputs(16)).backward_order()))
    print_checks(chapter, network, "before")
    losses = train(network, chapter.steps, 0.2)
    print("\nTraining")
    chapter.fact("steps", chapter.steps)
    chapter.fact("first_loss", losses[0])
    chapter.fact("last_loss", losses[-1])
    print_checks(chapter, network, "after")
    chapter.picture("loss", draw_losses(losses))


if __name__ == "__main__":
    course.run(main, "03_autograd", "Trains a network with an autograd engine of 200 lines.", steps=1000)
