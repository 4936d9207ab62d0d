"""Ops against NumPy, and the binding of every op of the library."""

import math
import pathlib
import re

import numpy as np
import pytest

import halfgrad as hg

RNG = np.random.default_rng(0)
X = RNG.uniform(0.2, 2, (3, 4)).astype(np.float64)
Y = RNG.uniform(0.2, 2, (3, 4)).astype(np.float64)

UNARY = {
    "neg": np.negative, "abs": np.abs, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1,
    "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "reciprocal": np.reciprocal, "square": np.square,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "tanh": np.tanh, "floor": np.floor,
    "ceil": np.ceil, "round": np.round, "trunc": np.trunc, "sign": np.sign,
    "erf": np.vectorize(math.erf), "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "relu": lambda x: np.maximum(x, 0),
}
BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
    "floor_divide": np.floor_divide, "remainder": np.remainder, "fmod": np.fmod, "pow": np.power,
    "maximum": np.maximum, "minimum": np.minimum, "eq": np.equal, "ne": np.not_equal,
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}
REDUCTIONS = {
    "sum": np.sum, "mean": np.mean, "amax": np.max, "amin": np.min,
    "var": lambda x, axis, keepdims: np.var(x, axis, ddof=1, keepdims=keepdims),
    "std": lambda x, axis, keepdims: np.std(x, axis, ddof=1, keepdims=keepdims),
}


def close(tensor, expected):
    return np.allclose(tensor.numpy(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", UNARY)
def test_unary_op_as_function_method_and_in_place(name):
    expected = UNARY[name](X)
    assert close(getattr(hg, name)(hg.tensor(X)), expected)
    assert close(getattr(hg.tensor(X), name)(), expected)
    x = hg.tensor(X)
    assert getattr(x, name + "_")() is x
    assert close(x, expected)


@pytest.mark.parametrize("name", BINARY)
def test_binary_op(name):
    expected = BINARY[name](X, Y)
    assert close(getattr(hg, name)(hg.tensor(X), hg.tensor(Y)), expected)
    assert close(getattr(hg.tensor(X), name)(hg.tensor(Y)), expected)
    if name not in ("maximum", "minimum"):
        assert close(getattr(hg, name)(hg.tensor(X), 0.5), BINARY[name](X, 0.5))


@pytest.mark.parametrize("dim, axis", [(None, None), (0, 0), (-1, -1), ((0, 1), (0, 1))])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reduction(name, dim, axis, keepdim):
    expected = REDUCTIONS[name](X, axis=axis, keepdims=keepdim)
    result = getattr(hg, name)(hg.tensor(X), dim=dim, keepdim=keepdim)
    assert result.shape == expected.shape and close(result, expected)


def test_operators():
    x, y = hg.tensor(X), hg.tensor(Y)
    for result, expected in [
            (x + y, X + Y), (x - y, X - Y), (x * y, X * Y), (x / y, X / Y), (x // y, X // Y),
            (x % y, X % Y), (x ** y, X ** Y), (x @ y.t(), X @ Y.T), (-x, -X), (abs(-x), X),
            (2 + x, 2 + X), (2 - x, 2 - X), (2 * x, 2 * X), (2 / x, 2 / X), (2 ** x, 2 ** X),
            (2 // x, 2 // X), (2 % x, 2 % X), (x + 2, X + 2), (x ** 2, X ** 2),
            (x < y, X < Y), (x == x, X == X), (x != y, X != Y), (x >= 1, X >= 1)]:
        assert close(result, expected)
    mask = x > 1
    assert close(~mask & (y > 1) | mask, (X > 1) | (Y > 1))
    assert close(x + np.float64(1.5), X + 1.5)
    assert (x == None) is False and (x != "a") is True  # noqa: E711


def test_operators_refuse_arrays_and_texts():
    with pytest.raises(TypeError):
        hg.ones(2) + "a"
    with pytest.raises(TypeError):
        np.ones(2) + hg.ones(2)


def test_scalars_do_not_promote():
    x = hg.ones(2, dtype=hg.float16)
    assert (x * 2.5).dtype == hg.float16
    assert (hg.arange(2) * 2.5).dtype == hg.float32
    assert (x + hg.ones(2)).dtype == hg.float32


def test_rows_and_products():
    x = hg.tensor(X)
    e = np.exp(X)
    assert close(hg.softmax(x, dim=-1), e / e.sum(-1, keepdims=True))
    assert close(x.log_softmax(1), np.log(e / e.sum(-1, keepdims=True)))
    assert close(hg.logsumexp(x, 1), np.log(e.sum(-1)))
    assert close(hg.einsum("ij,kj->ik", [x, hg.tensor(Y)]), X @ Y.T)
    mean, std = X.mean(-1, keepdims=True), X.var(-1, keepdims=True)
    assert close(hg.layer_norm(x, 4), (X - mean) / np.sqrt(std + 1e-5))
    assert close(hg.linear(x, hg.tensor(Y)), X @ Y.T)


def test_shapes():
    x = hg.arange(24)
    assert x.view(2, 3, 4).shape == x.view((2, 3, 4)).shape == (2, 3, 4)
    y = x.reshape(2, -1, 4)
    assert y.permute(2, 0, 1).shape == (4, 2, 3)
    assert y.transpose(0, 2).shape == (4, 3, 2)
    assert y.unsqueeze(0).squeeze().shape == (2, 3, 4)
    assert y.flatten(1).shape == (2, 12)
    assert hg.ones(1, 3).expand(2, 3).shape == (2, 3)
    assert hg.ones(2).repeat(2, 2).shape == (2, 4)
    assert hg.cat([y, y], dim=1).shape == (2, 6, 4)
    assert hg.stack([x, x]).shape == (2, 24)
    assert [p.shape for p in x.split(10)] == [(10,), (10,), (4,)]
    assert [p.shape for p in hg.split(x, [4, 20])] == [(4,), (20,)]
    assert x.flip(0)[0].item() == 23
    with pytest.raises(TypeError, match="expected at most 8 integers"):
        x.view("a", 2)


def test_values_and_indices():
    x = hg.tensor([[3.0, 1, 2], [4, 6, 5]])
    values, indices = x.max(1)
    assert values.tolist() == [3, 6] and indices.tolist() == [0, 1]
    assert x.max().item() == 6 and x.argmax().item() == 4
    assert x.sort(descending=True)[0].tolist() == [[3, 2, 1], [6, 5, 4]]
    assert x.topk(2)[1].tolist() == [[0, 2], [1, 2]]
    assert hg.where(x > 2, x, 0).tolist() == [[3, 0, 0], [4, 6, 5]]
    assert x.clamp(2, 4).tolist() == [[3, 2, 2], [4, 4, 4]]
    assert x.clamp(min=5).tolist() == [[5, 5, 5], [5, 6, 5]]
    assert x.cumsum(1)[0].tolist() == [3, 4, 6]
    assert hg.gather(x, 1, hg.tensor([[2], [0]])).tolist() == [[2], [4]]
    assert hg.nn.functional.one_hot(hg.tensor([1, 0])).tolist() == [[0, 1], [1, 0]]


def test_errors_have_the_texts_of_cpp():
    with pytest.raises(ValueError, match=r"add: .*\[2\] and \[3\]"):
        hg.add(hg.ones(2), hg.ones(3))
    with pytest.raises(IndexError, match="softmax: "):
        hg.softmax(hg.ones(2), dim=3)
    with pytest.raises(ValueError, match='reduction: expected "none", "mean" or "sum", got "max"'):
        hg.mse_loss(hg.ones(2), hg.ones(2), reduction="max")
    with pytest.raises(TypeError, match="softmax"):
        hg.softmax([1, 2], dim=0)


def test_every_op_of_the_table_is_bound():
    page = pathlib.Path(__file__).parents[2] / "docs/ops.md"
    names = re.findall(r"^\| `(\w+)` \|", page.read_text(), re.MULTILINE)
    assert len(names) > 100
    # expand() is a method alone, and slices are written x[a:b], as in PyTorch.
    assert [n for n in names if not hasattr(hg, n)] == ["expand", "slice"]


def test_ternary_ops():
    x, y, z = hg.tensor(X), hg.tensor(Y), hg.tensor(X + Y)
    assert close(x.lerp(y, 0.25), X + 0.25 * (Y - X))
    assert close(hg.addcmul(x, y, z, value=2), X + 2 * Y * (X + Y))
    assert close(hg.addcdiv(x, y, z), X + Y / (X + Y))
    assert close(x.clone().addcmul_(y, z), X + Y * (X + Y))
    assert close(x.where(x > 1, 0), np.where(X > 1, X, 0))
    assert close(x.clamp_min(1), np.maximum(X, 1)) and close(x.clamp_max(y), np.minimum(X, Y))
    assert close(hg.zeros(3, 3, dtype=hg.float64).addmm_(x, y.t()), X @ Y.T)
    assert x.new_full((2,), 3).dtype == hg.float64


def test_docstrings_have_signatures():
    assert "dim: int" in hg.softmax.__doc__ and "float32 under autocast" in hg.softmax.__doc__
    assert "alpha" in hg.Tensor.add.__doc__
