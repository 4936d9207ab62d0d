"""Names and forms of PyTorch that scripts use."""

import weakref

import numpy as np
import pytest

import halfgrad as hg
from halfgrad import nn
from halfgrad.nn import functional as F


def leaf(*values):
    return hg.tensor(values, requires_grad=True)


def test_named_tuples():
    x = hg.tensor([[3.0, 1.0, 2.0]])
    for result, values in [(x.max(dim=1), [3]), (hg.min(x, 1), [1]), (x.topk(2), [[3, 2]]),
                           (hg.sort(x, descending=True), [[3, 2, 1]])]:
        assert result.values.tolist() == values and result.indices.dtype == hg.int64
        assert result[0] is result.values and len(result) == 2
    assert repr(x.max(1)).startswith("ValuesIndices(values=")


def test_no_grad_with_and_without_parentheses():
    @hg.no_grad
    def bare():
        return hg.is_grad_enabled()

    @hg.enable_grad()
    def on():
        return hg.is_grad_enabled()

    @hg.inference_mode
    def inference():
        return hg.autograd.is_inference_mode_enabled()

    assert not bare() and bare.__name__ == "bare" and inference()
    with hg.no_grad():
        assert on() and not hg.is_grad_enabled()


def test_a_decorated_generator_has_the_mode_while_it_runs():
    @hg.no_grad()
    def states():
        sent = yield hg.is_grad_enabled()
        try:
            yield (hg.is_grad_enabled(), sent)
        except KeyError:
            yield "caught"
        return "end"

    generator = states()
    assert next(generator) is False and hg.is_grad_enabled()
    assert generator.send(5) == (False, 5) and generator.throw(KeyError()) == "caught"
    with pytest.raises(StopIteration, match="end"):
        next(generator)


def test_set_grad_enabled_is_a_function_too():
    hg.set_grad_enabled(False)
    assert not hg.is_grad_enabled()
    hg.set_grad_enabled(True)
    with hg.set_grad_enabled(False):
        assert not hg.is_grad_enabled()
    assert hg.is_grad_enabled()

    @hg.set_grad_enabled(False)
    def off():
        return hg.is_grad_enabled()

    assert hg.is_grad_enabled() and not off()


def test_custom_functions_under_autocast():
    class Inner(hg.autograd.Function):
        @staticmethod
        @hg.amp.custom_fwd(device_type="cpu")
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x @ x

        @staticmethod
        @hg.amp.custom_bwd(device_type="cpu")
        def backward(ctx, gradient):
            seen.append((hg.is_autocast_enabled("cpu"), hg.get_autocast_dtype("cpu")))
            return gradient

    class Outer(Inner):
        forward = staticmethod(hg.amp.custom_fwd(
            lambda ctx, x, xs: (seen.append((x.dtype, xs[0].dtype)), x * 1)[1], device_type="cpu",
            cast_inputs=hg.float32))
        backward = staticmethod(hg.amp.custom_bwd(
            lambda ctx, gradient: (Inner.backward(ctx, gradient), None), device_type="cpu"))

    seen = []
    x = hg.ones(2, 2, requires_grad=True)
    with hg.autocast("cpu", dtype=hg.bfloat16):
        y, z = Inner.apply(x), Outer.apply(x.half(), [x.double()])
    y.sum().backward()
    z.sum().backward()
    assert seen == [(hg.float32, hg.float64), (True, hg.bfloat16), (False, hg.bfloat16)]

    class Bare(hg.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        backward = staticmethod(hg.amp.custom_bwd(lambda ctx, g: g, device_type="cpu"))

    with pytest.raises(ValueError, match="custom_bwd: expected a forward decorated with custom_fwd"):
        Bare.apply(x).sum().backward()


def test_functions_with_setup_context():
    class Scale(hg.autograd.Function):
        @staticmethod
        def forward(x, factor):
            return x * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.factor = inputs[1]
            seen.append((output.shape, ctx.needs_input_grad))

        @staticmethod
        def backward(ctx, gradient):
            return gradient * ctx.factor, None

    seen = []
    x = leaf(1.0, 2.0)
    Scale.apply(x, 3).sum().backward()
    assert x.grad.tolist() == [3, 3] and seen == [((2,), (True, False))]


def test_tensor_attributes():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="leaf|gradient"):
        x += 1
    x.data += 1
    x.data = x.data * 2
    assert x.tolist() == [4, 6] and x.requires_grad and not x.data.requires_grad
    reference = weakref.ref(x)
    assert reference() is x
    del x
    assert reference() is None
    y = leaf(2.0)
    (y * y).sum().backward(retain_graph=None)
    assert y.to(hg.float64, non_blocking=True).dtype == hg.float64


def test_a_second_derivative_keeps_the_graph():
    x = leaf(2.0)
    y = x ** 3
    y.sum().backward(create_graph=True)
    y.sum().backward()
    assert x.grad.tolist() == [24]


def test_states_of_optimizers_by_parameter():
    x = leaf(1.0)
    optimizer = hg.optim.Adam([("x", x)], lr=0.1, fused=True, foreach=None)
    assert len(optimizer.state) == 0 and x not in optimizer.state
    (x * x).sum().backward()
    optimizer.step()
    assert optimizer.state[x]["step"].item() == 1 and list(optimizer.state)[0].is_same(x)
    group = optimizer.param_groups[0]
    assert group.get("momentum", 5) == 5 and dict(group.items())["lr"] == 0.1
    assert len(group.values()) == len(group.keys())
    hg.optim.SGD([{"params": x}, {"params": iter([leaf(2.0)])}], lr=0.1)


def test_one_cycle_has_all_options():
    optimizer = hg.optim.SGD([{"params": [leaf(1.0)]}, {"params": [leaf(1.0)]}], lr=1.0, momentum=.9)
    cycle = hg.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=[0.1, 0.2], epochs=2, steps_per_epoch=5, anneal_strategy="linear",
        three_phase=True, base_momentum=0.5, max_momentum=0.6)
    assert [g["lr"] for g in optimizer.param_groups] == pytest.approx([0.004, 0.008])
    assert optimizer.param_groups[0]["momentum"] == 0.6
    cycle.step()
    with pytest.raises(ValueError, match='OneCycleLR: expected anneal_strategy "cos" or "linear"'):
        hg.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, 5, anneal_strategy="exp")


def test_small_functions():
    assert hg.einsum("ij,jk->ik", hg.ones(2, 3), hg.ones(3, 4)).tolist() == [[3] * 4] * 2
    assert hg.einsum("i->", [hg.ones(3)]).item() == 3
    array = np.ones(2, np.float32)
    hg.as_tensor(array)[0] = 5
    assert array[0] == 5 and hg.as_tensor([1, 2]).dtype == hg.int64 and hg.is_tensor(hg.ones(1))
    x = hg.ones(1)
    assert hg.as_tensor(x) is x and hg.as_tensor(x, dtype=hg.float16).dtype == hg.float16
    for dtype, eps in [(hg.float16, 2 ** -10), (hg.bfloat16, 2 ** -7), (hg.float32, 2 ** -23)]:
        assert hg.finfo(dtype).eps == eps and hg.finfo(dtype).min == -hg.finfo(dtype).max
    assert hg.tensor(hg.finfo(hg.bfloat16).max).bfloat16().isfinite().item()
    assert hg.iinfo(hg.uint8).max == 255
    rows, columns = hg.meshgrid(hg.arange(2), hg.arange(3), indexing="xy")
    expected = np.meshgrid(np.arange(2), np.arange(3))
    assert rows.tolist() == expected[0].tolist() and columns.tolist() == expected[1].tolist()
    assert hg.randn(3).var(0, unbiased=False).shape == () and hg.inf > 1
    state = hg.get_rng_state()
    first = hg.randn(3)
    hg.set_rng_state(state)
    assert hg.equal(first, hg.randn(3)) and hg.normal(0.0, 1.0, (2,)).shape == (2,)


def test_more_small_functions():
    assert f"{hg.tensor(1.25):.1f} {hg.tensor(2)} {hg.ones(1)}" == "1.2 2 tensor([1.])"
    condition = hg.tensor([[True, False], [True, True]])
    assert hg.where(condition, 1.5, 0).tolist() == [[1.5, 0], [1.5, 1.5]]
    rows, columns = hg.where(condition)
    assert rows.tolist() == [0, 1, 1] and columns.tolist() == [0, 0, 1]
    assert hg.ones(2, 6).unflatten(-1, (3, -1)).shape == (2, 3, 2)
    assert hg.ones(1).type(hg.float64).new_zeros(2, 3).dtype == hg.float64
    assert hg.bernoulli(hg.tensor([0.0, 1.0])).tolist() == [0, 1]
    assert hg.manual_seed(3).initial_seed() == 3 and hg.concat is hg.cat
    x, y = hg.rand(4, 3).log(), hg.rand(4, 3)
    total = F.kl_div(x, y, reduction="sum").item()
    assert F.kl_div(x, y, reduction="batchmean").item() == pytest.approx(total / 4)
    assert F.kl_div(x[0, 0], y[0, 0], reduction="batchmean").item() == pytest.approx(
        F.kl_div(x[0, 0], y[0, 0]).item())  # no dimension is a batch
    table = nn.Embedding.from_pretrained(hg.eye(3))
    assert table(hg.tensor(1)).tolist() == [0, 1, 0] and not table.weight.requires_grad
    with pytest.raises(TypeError, match="expected an iterable of tensors or dicts, got a tensor"):
        hg.optim.SGD(hg.ones(2), lr=0.1)

    class Late(nn.Module):
        def __init__(self):
            self.layer = nn.ReLU()

    with pytest.raises(AttributeError, match="Late: expected super"):
        Late()


def test_attention_is_the_softmax_of_scores():
    q, k, v = hg.randn(2, 4, 3), hg.randn(2, 4, 3), hg.randn(2, 4, 5)
    causal = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    masked = F.scaled_dot_product_attention(q, k, v, attn_mask=hg.ones(4, 4).tril() != 0)
    added = hg.ones(4, 4).triu(1) * -1e30
    assert hg.equal(causal, masked)
    assert hg.allclose(causal, F.scaled_dot_product_attention(q, k, v, attn_mask=added), atol=1e-6)
    assert hg.allclose(causal[:, 0], v[:, 0], atol=1e-6)
    assert hg.allclose(F.normalize(q, dim=-1).norm(dim=-1), hg.ones(2, 4), atol=1e-6)


def test_checkpoint_takes_other_arguments():
    x = leaf(2.0)
    y = hg.utils.checkpoint.checkpoint(lambda a, power, *, scale: a ** power * scale, x, 3, scale=2,
                                       use_reentrant=False)
    y.sum().backward()
    assert x.grad.tolist() == [24]
    with pytest.raises(ValueError, match="use_reentrant"):
        hg.utils.checkpoint.checkpoint(lambda a: a, x, use_reentrant=True)
