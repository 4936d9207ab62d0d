"""A complete reverse-mode autograd engine: examples/course/03_autograd/engine.h in Python.

Matrices are lists of rows. Each operation states its value and its derivative.
"""

import math
from collections.abc import Callable, Sequence

Matrix = list[list[float]]


def zeros(rows: int, columns: int) -> Matrix:
    return [[0.0] * columns for _ in range(rows)]


class Tensor:
    """A matrix, its gradient, and the operation that made it."""

    def __init__(self, value: Matrix, inputs: "Sequence[Tensor]" = (),
                 backward: Callable[[Matrix], None] | None = None) -> None:
        self.value = value
        self.grad = zeros(*self.shape)  # dloss/dvalue: the sum over all uses of the value
        self.inputs = inputs
        self._backward = backward  # adds to the gradients of the inputs; None for a leaf

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.value), len(self.value[0])

    def __add__(self, other: "Tensor") -> "Tensor":
        return elementwise(self, other, lambda a, b: a + b, lambda a, b: 1.0, lambda a, b: 1.0)

    def __sub__(self, other: "Tensor") -> "Tensor":
        return elementwise(self, other, lambda a, b: a - b, lambda a, b: 1.0, lambda a, b: -1.0)

    def __mul__(self, other: "Tensor") -> "Tensor":
        return elementwise(self, other, lambda a, b: a * b, lambda a, b: b, lambda a, b: a)

    def backward_order(self) -> "list[Tensor]":
        """All tensors that this one depends on, each before its inputs: depth first, without recursion."""
        inputs_first: list[Tensor] = []
        seen, path = {self}, [(self, iter(self.inputs))]
        while path:
            tensor, remaining = path[-1]
            following = next(remaining, None)
            if following is None:  # all inputs are listed: now the tensor itself
                inputs_first.append(tensor)
                path.pop()
            elif following not in seen:
                seen.add(following)
                path.append((following, iter(following.inputs)))
        return inputs_first[::-1]

    def apply_derivative(self) -> None:
        if self._backward:
            self._backward(self.grad)

    def backward(self) -> None:
        """Computes dself/dvalue for every tensor that this one depends on, and adds it to `grad`."""
        if self.shape != (1, 1):
            raise ValueError("backward: expected a loss of one element")
        self.grad[0][0] = 1.0
        for tensor in self.backward_order():
            tensor.apply_derivative()


def matmul(a: Tensor, b: Tensor) -> Tensor:
    """y = a b.    da = dy b^T,    db = a^T dy"""
    (rows, inner), (height, columns) = a.shape, b.shape
    if inner != height:
        raise ValueError("matmul: expected [n, k] and [k, m]")
    y = zeros(rows, columns)
    for i in range(rows):
        for k in range(inner):
            for j in range(columns):
                y[i][j] += a.value[i][k] * b.value[k][j]

    def backward(dy: Matrix) -> None:
        for i in range(rows):
            for k in range(inner):
                for j in range(columns):
                    a.grad[i][k] += dy[i][j] * b.value[k][j]
                    b.grad[k][j] += a.value[i][k] * dy[i][j]
    return Tensor(y, (a, b), backward)


def add_row(a: Tensor, row: Tensor) -> Tensor:
    """y = a + row, where `row` is added to every row of a.    da = dy,    drow = sum of dy's rows"""
    if row.shape != (1, a.shape[1]):
        raise ValueError("add_row: expected [n, m] and [1, m]")

    def backward(dy: Matrix) -> None:
        for i, dy_row in enumerate(dy):
            for j, element in enumerate(dy_row):
                a.grad[i][j] += element
                row.grad[0][j] += element
    return Tensor([[x + bias for x, bias in zip(one, row.value[0])] for one in a.value], (a, row), backward)


def elementwise(a: Tensor, b: Tensor, value: Callable[[float, float], float],
                slope_a: Callable[[float, float], float], slope_b: Callable[[float, float], float]) -> Tensor:
    """y = value(a, b), with the partial derivatives by a and by b."""
    if a.shape != b.shape:
        raise ValueError("elementwise: expected two matrices of one shape")

    def backward(dy: Matrix) -> None:
        for i, dy_row in enumerate(dy):
            for j, element in enumerate(dy_row):
                ai, bi = a.value[i][j], b.value[i][j]
                a.grad[i][j] += element * slope_a(ai, bi)
                b.grad[i][j] += element * slope_b(ai, bi)
    return Tensor([[value(x, z) for x, z in zip(*rows)] for rows in zip(a.value, b.value)], (a, b), backward)


def tanh(x: Tensor) -> Tensor:
    """y = tanh(x).    dx = dy (1 - y^2)"""
    y = [[math.tanh(element) for element in row] for row in x.value]

    def backward(dy: Matrix) -> None:
        for i, dy_row in enumerate(dy):
            for j, element in enumerate(dy_row):
                x.grad[i][j] += element * (1 - y[i][j] * y[i][j])
    return Tensor(y, (x,), backward)


def mean(x: Tensor) -> Tensor:
    """y = mean of all elements.    dx = dy / n"""
    n = x.shape[0] * x.shape[1]

    def backward(dy: Matrix) -> None:
        for row in x.grad:
            for j in range(len(row)):
                row[j] += dy[0][0] / n
    return Tensor([[sum(sum(row) for row in x.value) / n]], (x,), backward)
