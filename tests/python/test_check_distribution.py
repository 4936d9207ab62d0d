"""halfgrad.check_dropout() and halfgrad.check_sampling(): random kernels in NumPy, right and wrong."""

import numpy as np
import pytest

import halfgrad

HALF = {"probabilities": [0.5]}


def numbers(shape, seed, offset):
    return np.random.Generator(np.random.PCG64([seed, offset])).random(shape)


def dropout(x, p, seed, offset):
    kept = numbers(x.shape, seed, offset) >= p
    scale = x.dtype.type(0 if p == 1 else 1 / (1 - p))
    return np.where(kept, x * scale, x.dtype.type(0)), kept


def test_a_right_dropout_passes():
    result = halfgrad.check_dropout(dropout, probabilities=[0, 0.1, 1], dtype="float16")
    result.assert_ok()
    assert result.report["false_alarm"] < 1e-9 and result.report["samples"] > 10**6
    assert halfgrad.check_dropout(lambda *args: dropout(*args)[0], mask=False, **HALF)


def one_row(x, p, seed, offset):
    kept = np.broadcast_to(numbers(x.shape[-1:], seed, offset) >= p, x.shape)
    return np.where(kept, x / (1 - p), 0).astype(x.dtype), kept.copy()


def without_scale(x, p, seed, offset):
    kept = dropout(x, p, seed, offset)[1]
    return np.where(kept, x, 0), kept


def without_seed(x, p, seed, offset):
    return dropout(x, p, 0, offset)


@pytest.mark.parametrize("kernel, fault", [
    (one_row, "dependent"), (without_scale, "wrong value"), (without_seed, "dependent"),
    (lambda x, p, seed, offset: (x, np.ones(x.shape, bool)), "wrong value"),
    (lambda *args: None, "threw")])
def test_a_wrong_dropout_is_found(kernel, fault):
    result = halfgrad.check_dropout(kernel, **HALF)
    assert fault in [finding.fault for finding in result.findings], result
    with pytest.raises(AssertionError, match="dropout: FAILED"):
        result.assert_ok()


def sampling(weights, seed, offset):
    sums = np.cumsum(weights, axis=1, dtype=np.float64)
    u = numbers((len(weights), 1), seed, offset)
    return np.minimum((sums <= u).sum(1), weights.shape[1] - 1)


def test_sampling():
    halfgrad.check_sampling(sampling).assert_ok()
    all_of_row_0 = halfgrad.check_sampling(lambda w, *state: sampling(np.broadcast_to(w[:1], w.shape), *state))
    assert [finding.fault for finding in all_of_row_0.findings][0] in ("wrong share", "impossible class")
    with pytest.raises(ValueError, match="expected top_k of 0 or more, got -1"):
        halfgrad.check_sampling(sampling, top_k=-1)
    with pytest.raises(ValueError, match="expected like to be one of"):
        halfgrad.check_sampling(sampling, like="list")
