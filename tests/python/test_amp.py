"""Autocast, GradScaler and master weights."""

import pytest

import halfgrad as hg
from halfgrad import amp, nn, optim
from halfgrad.nn import functional as F


def test_autocast_casts_products_and_not_sums():
    x, w = hg.randn(4, 4), hg.randn(4, 4, requires_grad=True)
    with hg.autocast("cpu"):
        y = x @ w
        assert y.dtype == hg.float16 and hg.softmax(y, dim=1).dtype == hg.float32
        assert amp.is_autocast_enabled("cpu")
        with amp.autocast("cpu", enabled=False):
            assert (x @ w).dtype == hg.float32
    assert (x @ w).dtype == hg.float32 and not amp.is_autocast_enabled("cpu")
    y.float().sum().backward()
    assert w.grad.dtype == hg.float32


def test_autocast_as_a_decorator_with_bfloat16():
    @hg.autocast("cpu", dtype=hg.bfloat16)
    def product(x):
        return x @ x

    assert product(hg.ones(2, 2)).dtype == hg.bfloat16
    assert not amp.is_autocast_enabled("cpu")


def step_of(scaler, optimizer, x, factor):
    optimizer.zero_grad()
    scaler.scale((x * factor).sum()).backward()
    outcome = scaler.step(optimizer)
    scaler.update()
    return outcome


def test_the_scaler_skips_and_backs_off():
    x = hg.ones(2, requires_grad=True)
    optimizer = optim.SGD([x], lr=0.5)
    scaler = amp.GradScaler(init_scale=4.0, growth_interval=2, history=8)
    assert not step_of(scaler, optimizer, x, 1.0).skipped()
    assert x.tolist() == [0.5, 0.5]
    assert step_of(scaler, optimizer, x, float("inf")).skipped()
    assert x.tolist() == [0.5, 0.5] and scaler.get_scale() == 2
    for _ in range(2):
        step_of(scaler, optimizer, x, 1.0)
    assert scaler.get_scale() == 4
    assert scaler.counts() == {"steps": 3, "skipped_steps": 1, "growths": 1, "backoffs": 1}
    reports = scaler.reports()
    assert [r["skipped"] for r in reports] == [False, True, False, False]
    assert [r["event"] for r in reports] == ["none", "backoff", "none", "growth"]
    assert reports[1]["nonfinite"] == 2 and "backs off from 4 to 2" in reports[1]["text"]


def test_the_scalers_state():
    scaler = amp.GradScaler("cpu", init_scale=8.0)
    state = scaler.state_dict()
    assert state["scale"] == 8 and state["_growth_tracker"] == 0
    # PyTorch's scaler takes ints only.
    assert type(state["_growth_tracker"]) is int and type(state["growth_interval"]) is int
    assert type(amp.GradScaler(hysteresis=2).state_dict()["_bad_steps"]) is int
    amp.GradScaler().load_state_dict({key: float(value) for key, value in state.items()})
    other = amp.GradScaler()
    other.load_state_dict(state)
    assert other.get_scale() == 8
    assert amp.GradScaler(enabled=False).state_dict() == {}
    with pytest.raises(ValueError, match="growth_factor"):
        amp.GradScaler(growth_factor=0.5)
    with pytest.raises(RuntimeError, match="update: expected a scaler that has scaled a loss"):
        amp.GradScaler().update()


def test_step_and_update_is_unscale_clip_step_and_update():
    weights = []
    for at_once in (False, True):
        w = hg.ones(3, requires_grad=True)
        optimizer = optim.SGD([w], lr=1.0)
        scaler = amp.GradScaler(init_scale=8.0, growth_interval=1)
        scaler.scale((w * hg.tensor([3.0, 0.0, 4.0])).sum()).backward()
        if at_once:
            outcome = scaler.step_and_update(optimizer, max_norm=1.0)
            assert outcome.total_norm.item() == 5.0 and not outcome.skipped()
        else:
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_([w], 1.0)
            scaler.step(optimizer)
            scaler.update()
        assert scaler.get_scale() == 16.0
        weights.append(w.tolist())
    assert weights[0] == weights[1]


def test_clipping_scaled_gradients_is_an_error_that_names_the_fix():
    x = hg.ones(2, requires_grad=True)
    scaler = amp.GradScaler()
    scaler.scale(x.sum()).backward()
    with pytest.raises(RuntimeError, match="unscale_"):
        nn.utils.clip_grad_norm_([x], 1.0)


def test_master_weights():
    model = nn.Linear(4, 2).to(hg.float16)
    optimizer = optim.AdamW(model.parameters())
    masters = amp.MasterWeights(optimizer)
    scaler = amp.GradScaler()
    loss = F.mse_loss(model(hg.ones(3, 4, dtype=hg.half)).float(), hg.zeros(3, 2))
    scaler.scale(loss).backward()
    assert not scaler.step(optimizer).skipped()
    scaler.update()
    assert masters.master(model.weight).dtype == hg.float32 and masters.overflows() == 0
