"""MultiheadAttention against the values that PyTorch gave for tests/expected/multihead_attention.json."""

import json
from pathlib import Path

import numpy as np
import pytest

import halfgrad as hg
from halfgrad import nn

EXPECTED = json.loads(
    (Path(__file__).parents[1] / "expected" / "multihead_attention.json").read_text())


def tensor(stored):
    values = np.array(stored["values"], dtype=np.float64).reshape(stored["shape"])
    return hg.tensor(values.astype(bool) if stored["bool"] else values)


def expect_close(actual, expected):
    np.testing.assert_allclose(actual.detach().numpy().flatten(), expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("case", EXPECTED["cases"], ids=lambda case: case["name"])
def test_it_computes_what_pytorch_computes(case):
    layer = nn.MultiheadAttention(6, 2, dtype=hg.float64, **case["options"])
    assert list(layer.state_dict()) == list(case["state"])
    layer.load_state_dict({name: tensor(stored) for name, stored in case["state"].items()})
    inputs = [tensor(stored).requires_grad_() for stored in case["inputs"]]
    masks = {name: tensor(stored) for name, stored in case["masks"].items()}
    output, weights = layer(*(inputs * 3 if len(inputs) == 1 else inputs), **masks,
                            need_weights=case["need_weights"],
                            average_attn_weights=case["average_attn_weights"])
    assert list(output.shape) == case["output"]["shape"]
    expect_close(output, case["output"]["values"])
    assert (weights is None) == (case["weights"] is None)
    if weights is not None:
        assert list(weights.shape) == case["weights"]["shape"]
        expect_close(weights, case["weights"]["values"])
    output.backward(hg.tensor(np.array(case["cotangent"])).reshape(output.shape))
    for name, parameter in layer.named_parameters():
        expect_close(parameter.grad, case["gradients"][name])
    for x, gradient in zip(inputs, case["input_gradients"]):
        expect_close(x.grad, gradient)


def test_it_has_the_names_and_starts_as_in_pytorch():
    layer = nn.MultiheadAttention(6, 2, add_bias_kv=True)
    names = ["in_proj_weight", "in_proj_bias", "bias_k", "bias_v", "out_proj.weight", "out_proj.bias"]
    assert [name for name, _ in layer.named_parameters()] == names
    bound = (6 / (18 + 6))**0.5
    assert 0 < layer.in_proj_weight.abs().max().item() <= bound
    assert layer.in_proj_bias.abs().sum().item() == 0 and layer.out_proj.bias.abs().sum().item() == 0
    assert layer.bias_k.abs().sum().item() > 0


def test_it_drops_weights_in_training_only():
    layer = nn.MultiheadAttention(8, 2, dropout=0.5)
    x = hg.randn(5, 3, 8)
    assert not hg.equal(layer(x, x, x)[0], layer(x, x, x)[0])
    layer.eval()
    assert hg.equal(layer(x, x, x)[0], layer(x, x, x)[0])


def test_errors():
    with pytest.raises(ValueError, match="that num_heads divides, got 6 and 4"):
        nn.MultiheadAttention(6, 4)
    layer = nn.MultiheadAttention(6, 2)
    x = hg.randn(5, 3, 6)
    with pytest.raises(RuntimeError, match="expected attn_mask with is_causal=True"):
        layer(x, x, x, is_causal=True)
    with pytest.raises(ValueError, match=r"expected query \[l, n, 6\]"):
        layer(x[..., :4], x, x)
    with pytest.raises(ValueError, match=r"expected attn_mask \[5, 5\]"):
        layer(x, x, x, attn_mask=hg.zeros(4, 4))
