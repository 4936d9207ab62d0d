"""The default dtype. Expected dtypes: PyTorch 2.15."""

import halfgrad as hg
import numpy as np
import pytest


@pytest.fixture(params=[hg.float64, hg.float16])
def default(request):
    hg.set_default_dtype(request.param)
    yield request.param
    hg.set_default_dtype(hg.float32)


def test_is_that_of_new_tensors(default):
    assert hg.get_default_dtype() == default
    made = [hg.zeros(2), hg.ones(2), hg.empty(2), hg.rand(2), hg.randn(2), hg.full((2,), 0.5),
            hg.tensor(0.5), hg.tensor([0.5, 1]), hg.tensor([]), hg.arange(0.0, 3.0), hg.eye(2),
            hg.linspace(0, 1, 3), hg.scalar_tensor(1), hg.Tensor([1, 2]), hg.as_tensor([0.5])]
    assert {x.dtype for x in made} == {default}
    assert hg.finfo().dtype == default.name


def test_is_that_of_layers(default):
    layers = [hg.nn.Linear(2, 3), hg.nn.Embedding(3, 2), hg.nn.LayerNorm(2), hg.nn.RMSNorm(2),
              hg.nn.GroupNorm(1, 2), hg.nn.BatchNorm1d(2), hg.nn.MultiheadAttention(2, 1)]
    for layer in layers:
        assert {p.dtype for p in layer.parameters()} == {default}, layer


def test_is_that_of_integers_that_become_floating_point(default):
    x = hg.tensor([1, 2])
    for y in [x / 2, x * 0.5, x.sqrt(), hg.erfc(x), x.clamp(0.5), hg.where(x > 1, x, 0.5),
              (x > 1) * 0.5, x ** 0.5]:
        assert y.dtype == default
    assert (x.float() * 0.5).dtype == hg.float32
    assert (x * x.float()).dtype == hg.float32
    assert x.cumsum(0).dtype == hg.int64


def test_leaves_what_has_a_dtype(default):
    assert hg.tensor(np.zeros(2, np.float32)).dtype == hg.float32
    assert hg.zeros(2, dtype=hg.bfloat16).dtype == hg.bfloat16
    assert hg.tensor([1, 2]).dtype == hg.int64
    assert hg.zeros_like(hg.zeros(2, dtype=hg.float32)).dtype == hg.float32


def test_is_not_printed():
    x = hg.tensor([1.5])
    assert repr(x) == "tensor([1.5000])"
    hg.set_default_dtype(hg.float64)
    try:
        assert repr(hg.tensor([1.5])) == "tensor([1.5000])"
        assert repr(x) == "tensor([1.5000], dtype=torch.float32)".replace("torch", "halfgrad")
    finally:
        hg.set_default_dtype(hg.float32)


def test_is_floating_point():
    with pytest.raises((TypeError, ValueError)):
        hg.set_default_dtype(hg.int64)
