"""Optimizers and schedules."""

import pytest

import halfgrad as hg
from halfgrad import optim


def trained(make, steps=3):
    x = hg.tensor([1.0, -2.0], requires_grad=True)
    optimizer = make([x])
    for _ in range(steps):
        optimizer.zero_grad()
        (x * x).sum().backward()
        optimizer.step()
    return x, optimizer


def test_sgd_follows_its_formula():
    x, _ = trained(lambda p: optim.SGD(p, lr=0.25), steps=2)
    assert x.tolist() == [0.25, -0.5]


@pytest.mark.parametrize("make", [
    lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    lambda p: optim.Adam(p, lr=0.1, amsgrad=True),
    lambda p: optim.AdamW(p, lr=0.1, betas=(0.8, 0.9), weight_decay=0.1),
    lambda p: optim.RMSprop(p, lr=0.1, alpha=0.9, momentum=0.5, centered=True),
    lambda p: optim.Adagrad(p, lr=0.1, lr_decay=0.5, initial_accumulator_value=0.25),
    lambda p: optim.Adadelta(p, rho=0.5),
    lambda p: optim.Adamax(p, lr=0.1, betas=(0.8, 0.9)),
    lambda p: optim.RAdam(p, lr=0.1, weight_decay=0.1, decoupled_weight_decay=True),
    lambda p: optim.NAdam(p, lr=0.1, momentum_decay=0.5),
    lambda p: optim.Lion(p, lr=0.1),
    lambda p: optim.LAMB(p, lr=0.1)])
def test_state_continues_in_another_optimizer(make):
    x, optimizer = trained(make)
    y = hg.tensor(x).requires_grad_()
    other = make([y])
    other.load_state_dict(optimizer.state_dict())
    for parameter, stepped in ((x, optimizer), (y, other)):
        stepped.zero_grad()
        (parameter * parameter).sum().backward()
        stepped.step()
    assert hg.equal(x, y)
    assert optimizer.state[x]["step"].item() == 4
    assert optimizer.state_dict()["state"][0]["step"].item() == 4


def test_lbfgs_calls_its_closure():
    x = hg.tensor([1.0, -2.0], requires_grad=True)
    optimizer = optim.LBFGS([x], max_iter=10, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = ((x - 3) ** 2).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 29
    assert closure().item() < 1e-6
    with pytest.raises(ValueError, match="closure"):
        optimizer.step()
    with pytest.raises(ValueError, match="armijo"):
        optim.LBFGS([x], line_search_fn="armijo")


def test_muon_takes_matrices():
    w = hg.ones(2, 3, requires_grad=True)
    optimizer = optim.Muon([w], lr=0.5, adjust_lr_fn="match_rms_adamw")
    (w * w).sum().backward()
    optimizer.step()
    assert w.max().item() < 1
    with pytest.raises(ValueError, match="matrices"):
        optim.Muon([hg.ones(2, requires_grad=True)])
    with pytest.raises(ValueError, match="adjust_lr_fn"):
        optim.Muon([w], adjust_lr_fn="none")


def test_groups_are_mappings():
    a, b = hg.ones(1, requires_grad=True), hg.ones(1, requires_grad=True)
    optimizer = optim.AdamW([{"params": [a]}, {"params": [b], "lr": 0.5}], lr=0.1)
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 0.5]
    for group in optimizer.param_groups:
        group["lr"] *= 2
    assert dict(optimizer.param_groups[1])["lr"] == 1.0
    assert optimizer.param_groups[0]["betas"] == (0.9, 0.999)
    assert "momentum" not in optimizer.param_groups[0]
    optimizer.add_param_group({"params": [hg.ones(2, requires_grad=True)], "eps": 1e-3})
    assert len(optimizer.param_groups) == 3 and optimizer.param_groups[2]["lr"] == 0.1
    with pytest.raises(KeyError, match='got "speed"'):
        optimizer.param_groups[0]["speed"] = 1


def test_errors():
    x = hg.ones(1, requires_grad=True)
    with pytest.raises(ValueError, match="lr"):
        optim.Adam([x], lr=-1)
    with pytest.raises(ValueError):
        optim.SGD([])
    with pytest.raises(ValueError, match="leaf"):
        optim.SGD([x * 2])


def test_closures_and_hooks():
    x = hg.tensor([1.0], requires_grad=True)
    optimizer = optim.SGD([x], lr=0.5)
    calls = []
    handle = optimizer.register_step_post_hook(lambda o: calls.append(o is optimizer))

    def closure():
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 1 and x.tolist() == [0]
    assert calls == [True]
    handle.remove()
    optimizer.step(closure)
    assert calls == [True] and optimizer.steps == 2


SCHEDULES = {
    "StepLR": (lambda o: optim.lr_scheduler.StepLR(o, step_size=2, gamma=0.5), [1, .5, .5, .25]),
    "MultiStepLR": (lambda o: optim.lr_scheduler.MultiStepLR(o, [1, 3], 0.5), [.5, .5, .25, .25]),
    "ExponentialLR": (lambda o: optim.lr_scheduler.ExponentialLR(o, 0.5), [.5, .25, .125, .0625]),
    "LambdaLR": (lambda o: optim.lr_scheduler.LambdaLR(o, lambda k: 1 / (k + 1)),
                 [1 / 2, 1 / 3, 1 / 4, 1 / 5]),
    "LinearLR": (lambda o: optim.lr_scheduler.LinearLR(o, 0.5, 1, 2), [.75, 1, 1, 1]),
    "ConstantLR": (lambda o: optim.lr_scheduler.ConstantLR(o, 0.5, 2), [.5, 1, 1, 1]),
    "CosineAnnealingLR": (lambda o: optim.lr_scheduler.CosineAnnealingLR(o, 2), [.5, 0, .5, 1]),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule(name):
    make, expected = SCHEDULES[name]
    x = hg.ones(1, requires_grad=True)
    optimizer = optim.SGD([x], lr=1.0)
    scheduler = make(optimizer)
    rates = []
    for _ in expected:
        (x * 1).sum().backward()
        optimizer.step()
        scheduler.step()
        rates.append(optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx(expected, abs=1e-12)
    state = scheduler.state_dict()
    assert state["last_epoch"] == 4 and scheduler.get_last_lr() == rates[-1:]
    scheduler.load_state_dict(state)


def test_sequences_and_one_cycle():
    optimizer = optim.SGD([hg.ones(1, requires_grad=True)], lr=1.0, momentum=0.9)
    warm_up = optim.lr_scheduler.LinearLR(optimizer, 0.1, 1, 3)
    decay = optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    sequence = optim.lr_scheduler.SequentialLR(optimizer, [warm_up, decay], milestones=[3])
    del warm_up, decay
    for _ in range(5):
        sequence.step()
    assert optimizer.param_groups[0]["lr"] == 0.25
    cycle = optim.lr_scheduler.OneCycleLR(
        optim.Adam([hg.ones(1, requires_grad=True)]), max_lr=0.1, total_steps=10)
    cycle.step()
    assert cycle.last_epoch == 1


def test_reduce_on_plateau():
    optimizer = optim.SGD([hg.ones(1, requires_grad=True)], lr=1.0)
    plateau = optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1, cooldown=1)
    rates = []
    for loss in (3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, hg.tensor(1.0)):
        plateau.step(loss)
        rates.append(plateau.get_last_lr()[0])
    assert rates == [1, 1, 1, .5, .5, .5, .25, .25]
    other = optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    other.load_state_dict(plateau.state_dict())
    assert other.best == 1.0 and other.patience == 1
    with pytest.raises(ValueError, match="factor below 1"):
        optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=2.0)
