"""x[...] and x[...] = y, compared with NumPy on random expressions."""

import random

import numpy as np
import pytest

import halfgrad as hg


def random_index(rng, size):
    """One index for a dimension of this size."""
    kind = rng.randrange(6)
    if kind == 0:
        return rng.randrange(-size, size)
    if kind == 1:
        return slice(None)
    if kind == 2:
        return slice(rng.randrange(-size, size), rng.randrange(-size, size + 1), rng.choice([1, 2, 3]))
    if kind == 3:
        return slice(None, rng.randrange(1, size + 1), None)
    if kind == 4:
        return [rng.randrange(-size, size) for _ in range(3)]
    return None


def random_expression(rng, shape):
    parts = []
    used = 0
    lists = 0
    while used < len(shape):
        if rng.random() < 0.15:
            break
        part = random_index(rng, shape[used])
        if isinstance(part, list):
            if lists == 1:
                continue  # NumPy moves separated lists to the front; one list is enough
            lists += 1
        # An integer beside a list counts as an index array in NumPy, and an int in PyTorch.
        if isinstance(part, int) and lists:
            continue
        if isinstance(part, list) and any(isinstance(other, int) for other in parts):
            lists -= 1
            continue
        parts.append(part)
        used += part is not None
    if rng.random() < 0.3:
        parts.append(Ellipsis)
    return tuple(parts)


@pytest.mark.parametrize("seed", range(300))
def test_random_expressions_equal_numpys(seed):
    rng = random.Random(seed)
    shape = tuple(rng.randrange(1, 6) for _ in range(rng.randrange(1, 5)))
    array = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    tensor = hg.tensor(array)
    expression = random_expression(rng, shape)
    expected = array[expression]
    assert np.array_equal(tensor[expression].numpy(), expected), expression

    array[expression] = -1
    tensor[expression] = -1
    assert np.array_equal(tensor.numpy(), array), expression

    if not any(isinstance(part, list) for part in expression):
        value = rng.random() * np.ones_like(expected)
        array[expression] = value
        tensor[expression] = value
        assert np.array_equal(tensor.numpy(), array), expression


def test_masks_and_index_tensors():
    x = hg.arange(6).reshape(2, 3)
    mask = x > 2
    assert x[mask].tolist() == [3, 4, 5]
    assert x[mask.numpy()].tolist() == [3, 4, 5]
    x[mask] = 0
    assert x.tolist() == [[0, 1, 2], [0, 0, 0]]
    assert x[hg.tensor([1, 0]), hg.tensor([0, 2])].tolist() == [0, 2]
    x[hg.tensor([1, 1]), hg.tensor([0, 2])] = hg.tensor([7, 8])
    assert x[1].tolist() == [7, 0, 8]
    assert x[np.int64(1), 0].item() == 7
    assert x[hg.tensor(1)].tolist() == [7, 0, 8]
    assert x[[]].shape == (0, 3)


def test_views_share_memory_and_gradients_flow():
    x = hg.zeros(3, 3, requires_grad=True)
    y = x * 1
    y[1] = 5
    y[0, ::2].sum().backward()
    assert x.grad.tolist() == [[1, 0, 1], [0, 0, 0], [0, 0, 0]]


def test_errors():
    x = hg.zeros(2, 3)
    with pytest.raises(IndexError, match="index"):
        x[2]
    with pytest.raises(IndexError):
        x[0, 0, 0]
    with pytest.raises(TypeError, match="got an object of type str"):
        x["a"]
    with pytest.raises(TypeError, match="0-dimensional"):
        len(x[0, 0])
    with pytest.raises(ValueError):
        x[:, ::-1]
