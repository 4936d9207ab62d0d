"""Optimizers and schedules."""

import time

import numpy as np
import pytest

import halfgrad as hg
from halfgrad import amp, optim
from halfgrad.optim import lr_scheduler as schedules


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


def test_states_have_the_types_of_pytorch():
    _, optimizer = trained(lambda p: optim.Adam(p, lr=0.1, betas=(0.8, 0.9), amsgrad=True), 1)
    state = optimizer.state_dict()
    assert state["param_groups"] == [{"params": [0], "lr": 0.1, "betas": (0.8, 0.9), "eps": 1e-8,
                                      "weight_decay": 0.0, "amsgrad": True, "maximize": False}]
    assert state["param_groups"][0]["amsgrad"] is True
    assert sorted(state["state"][0]) == ["exp_avg", "exp_avg_sq", "max_exp_avg_sq", "step"]


# Groups and states of PyTorch 2.15 after one update of a parameter of two elements.
PYTORCH = {
    "SGD": (optim.SGD, {"lr": 0.5, "momentum": 0.9, "dampening": 0, "weight_decay": 0,
                        "nesterov": True, "maximize": False, "foreach": None,
                        "differentiable": False, "fused": None},
            {"momentum_buffer": [1, 2]}),
    "SGD without momentum": (optim.SGD, {"lr": 0.5, "momentum": 0}, {"momentum_buffer": None}),
    "Adam": (optim.Adam, {"lr": 0.5, "betas": (0.8, 0.9), "eps": 1e-8, "weight_decay": 0,
                          "amsgrad": True, "maximize": False, "foreach": None, "capturable": False,
                          "differentiable": False, "fused": None, "decoupled_weight_decay": False},
             {"step": 1, "exp_avg": [1, 2], "exp_avg_sq": [1, 2], "max_exp_avg_sq": [1, 2]}),
    "AdamW": (optim.AdamW, {"lr": 0.5, "betas": (0.8, 0.9), "eps": 1e-8, "weight_decay": 0.1,
                            "amsgrad": False, "maximize": False, "foreach": None,
                            "capturable": False, "differentiable": False, "fused": None,
                            "decoupled_weight_decay": True},
              {"step": 1, "exp_avg": [1, 2], "exp_avg_sq": [1, 2]}),
    "RMSprop": (optim.RMSprop, {"lr": 0.5, "momentum": 0.5, "alpha": 0.9, "eps": 1e-8,
                                "centered": True, "weight_decay": 0, "capturable": False,
                                "foreach": None, "maximize": False, "differentiable": False},
                {"step": 1, "square_avg": [1, 2], "momentum_buffer": [1, 2], "grad_avg": [1, 2]}),
    "Adagrad": (optim.Adagrad, {"lr": 0.5, "lr_decay": 0.1, "eps": 1e-10, "weight_decay": 0,
                                "initial_accumulator_value": 0, "foreach": None, "maximize": False,
                                "differentiable": False, "fused": None},
                {"step": 1, "sum": [1, 2]})}


@pytest.mark.parametrize("name", PYTORCH)
def test_states_of_pytorch_are_loaded(name):
    make, options, entries = PYTORCH[name]
    x = hg.ones(2, requires_grad=True)
    optimizer = make([x])
    # Arrays stand for PyTorch's tensors, which have DLPack as well.
    arrays = {key: value if value is None else np.asarray(value, np.float32)
              for key, value in entries.items()}
    optimizer.load_state_dict({"state": {0: arrays},
                               "param_groups": [{"params": [0], **options}]})
    loaded = optimizer.state_dict()
    group = loaded["param_groups"][0]
    assert all(options[key] == value for key, value in group.items() if key in options)
    assert {"lr", "params"} < set(group)
    saved = {key: value for key, value in entries.items() if value is not None}
    assert {key: value.tolist() for key, value in loaded["state"].get(0, {}).items()
            if key in saved} == saved
    (x * x).sum().backward()
    optimizer.step()
    assert x.tolist() != [1, 1]


def test_older_states_and_counts_of_other_types_are_loaded():
    x, optimizer = trained(lambda p: optim.Adam(p, lr=0.1))
    state = optimizer.state_dict()
    group = state["param_groups"][0]
    del group["betas"]
    group.update({"beta1": 0.5, "beta2": 0.75, "amsgrad": 0.0})
    for step in (7, 7.0, hg.tensor(7), hg.tensor(7.0, dtype=hg.float64)):
        state["state"][0]["step"] = step
        other = optim.Adam([x])
        other.load_state_dict(state)
        assert other.param_groups[0]["betas"] == (0.5, 0.75)
        assert other.state[x]["step"].item() == 7 and other.state[x]["step"].dtype == hg.float32


def test_values_of_wrong_types_are_named():
    x, optimizer = trained(lambda p: optim.Adam(p, lr=0.1))
    with pytest.raises(TypeError, match='param_groups: expected "lr" to be a number, got str'):
        optimizer.param_groups[0]["lr"] = "x"
    with pytest.raises(TypeError, match="params: expected each element to be a tensor, got int"):
        optim.SGD([5])

    def refuse(match, change):
        state = optimizer.state_dict()
        change(state)
        with pytest.raises(TypeError, match="load_state_dict: expected " + match):
            optimizer.load_state_dict(state)

    refuse('"eps" to be a number, got NoneType',
           lambda state: state["param_groups"][0].update(eps=None))
    refuse('"betas" to be a pair of floats, got float',
           lambda state: state["param_groups"][0].update(betas=0.5))
    refuse('"param_groups" to be a list, got dict', lambda state: state.update(param_groups={}))
    refuse('"exp_avg" of parameter 0 to be a tensor or a number, got object',
           lambda state: state["state"][0].update(exp_avg=object()))
    refuse("the number of a parameter to be an int, got str",
           lambda state: state["state"].update(a={}))
    schedule = schedules.LambdaLR(optimizer, lambda epoch: 1.0 if epoch == 0 else None)
    with pytest.raises(TypeError, match="<lambda>: expected the result to be a number, got None"):
        schedule.step()
    with pytest.raises(TypeError, match='load_state_dict: expected "last_epoch" to be an int'):
        schedule.load_state_dict({**schedule.state_dict(), "last_epoch": "1"})
    with pytest.raises(TypeError, match='load_state_dict: expected "scale" to be a number'):
        amp.GradScaler().load_state_dict({"scale": "x"})


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
    with pytest.raises(KeyError, match='got "weigth_decay"; is it "weight_decay"?'):
        optimizer.param_groups[0]["weigth_decay"] = 1
    with pytest.raises(KeyError, match='got "speed"'):
        optimizer.param_groups[0]["speed"]


def test_groups_keep_options_of_the_program():
    a, b = hg.ones(1, requires_grad=True), hg.ones(1, requires_grad=True)
    groups = [{"params": [a], "name": "first"}, {"params": [b], "lr_scale": 0.5, "tags": ["x"]}]
    optimizer = optim.SGD(groups, lr=0.1)
    optimizer.param_groups[0]["name"] += "!"
    assert [dict(g).get("name") for g in optimizer.param_groups] == ["first!", None]
    assert list(optimizer.param_groups[1])[-2:] == ["lr_scale", "tags"]
    saved = optimizer.state_dict()
    assert saved["param_groups"][1]["tags"] == ["x"]
    other = optim.SGD([{"params": [a], "old": 1}, {"params": [b]}], lr=0.2)
    other.load_state_dict(saved)
    assert other.param_groups[0]["name"] == "first!" and "old" not in other.param_groups[0]
    assert other.param_groups[1]["lr_scale"] == 0.5 and other.param_groups[1]["lr"] == 0.1
    with pytest.raises(KeyError, match='is it "momentum"?'):
        optim.SGD([{"params": [a], "momentun": 0.9}], lr=0.1)


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
    "PolynomialLR": (lambda o: schedules.PolynomialLR(o, 4, 2.0), [.5625, .25, .0625, 0]),
    "MultiplicativeLR": (lambda o: schedules.MultiplicativeLR(o, lambda k: 1 / (k + 1)),
                         [1 / 2, 1 / 6, 1 / 24, 1 / 120]),
    "CosineAnnealingWarmRestarts": (lambda o: schedules.CosineAnnealingWarmRestarts(o, 2, 2),
                                    [.5, 1, 0.8535533905932737, .5]),
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


# PyTorch 2.15 gives the rates of the following tests.
@pytest.mark.parametrize("make, expected", [
    (lambda o: [schedules.PolynomialLR(o, 4), schedules.ExponentialLR(o, 0.5)],
     [.375, .125, .03125, 0, 0]),
    (lambda o: [schedules.MultiplicativeLR(o, lambda k: 0.5), schedules.StepLR(o, 2, 0.5)],
     [.5, .125, .0625, .015625]),
    (lambda o: [schedules.SequentialLR(
        o, [schedules.ConstantLR(o, 0.5, 10), schedules.MultiplicativeLR(o, lambda k: 0.5)], [2])],
     [.5, .25, .125, .0625]),
    (lambda o: [schedules.SequentialLR(
        o, [schedules.ConstantLR(o, 0.5, 10), schedules.PolynomialLR(o, 4)], [2])],
     [.5, 1, .75, .5])])
def test_several_schedules_change_the_present_rate(make, expected):
    optimizer = optim.SGD([hg.ones(1, requires_grad=True)], lr=1.0)
    together = make(optimizer)
    rates = []
    for _ in expected:
        for schedule in together:
            schedule.step()
        rates.append(optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx(expected, abs=1e-12)


def test_multiplicative_takes_a_function_for_each_group():
    a, b = hg.ones(1, requires_grad=True), hg.ones(1, requires_grad=True)
    optimizer = optim.SGD([{"params": [a]}, {"params": [b]}], lr=1.0)
    schedule = schedules.MultiplicativeLR(optimizer, [lambda k: 0.5, lambda k: 0.25])
    optimizer.param_groups[0]["lr"] = 4.0
    schedule.step()
    assert schedule.get_last_lr() == [2, 0.25]
    with pytest.raises(ValueError, match="MultiplicativeLR: expected 2 functions, got 1"):
        schedules.MultiplicativeLR(optimizer, [lambda k: 0.5])


def test_warm_restarts_of_a_rate_of_zero_and_in_fractions_of_an_epoch():
    def restarts(lr, *arguments, **options):
        optimizer = optim.SGD([hg.ones(1, requires_grad=True)], lr=lr)
        return schedules.CosineAnnealingWarmRestarts(optimizer, *arguments, **options)

    rising = restarts(0.0, 2, eta_min=0.5)
    rates = []
    for _ in range(4):
        rising.step()
        rates += rising.get_last_lr()
    assert rates == pytest.approx([0.25, 0, 0.25, 0])

    schedule = restarts(1.0, 3)
    schedule.step(1.5)
    assert schedule.get_last_lr() == pytest.approx([0.5]) and schedule.last_epoch == 1
    resumed = restarts(1.0, 3)
    resumed.load_state_dict(schedule.state_dict())
    for one in (schedule, resumed):
        one.step()
        assert one.get_last_lr() == pytest.approx([0.06698729810778065]) and one.last_epoch == 2

    growing = restarts(1.0, 2, 2)
    for epoch, rate, length in ((3.5, 0.6913417161825449, 4), (7.25, 0.9409606321741775, 8)):
        growing.step(epoch)
        assert growing.get_last_lr() == pytest.approx([rate])
        assert growing.state_dict()["T_i"] == length
    with pytest.raises(ValueError, match="expected an epoch in"):
        growing.step(-1)
    with pytest.raises(ValueError, match="expected T_0 >= 1, got 0"):
        restarts(1.0, 0)


def test_a_late_epoch_of_warm_restarts_costs_no_more_than_the_first():
    optimizer = optim.SGD([hg.ones(1, requires_grad=True)], lr=1.0)
    schedule = schedules.CosineAnnealingWarmRestarts(optimizer, 1)
    start = time.perf_counter()
    schedule.step(1e12)
    assert time.perf_counter() - start < 1 and schedule.get_last_lr() == [1]


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


def test_plateaus_have_a_least_rate_for_each_group():
    a, b = hg.ones(1, requires_grad=True), hg.ones(1, requires_grad=True)
    optimizer = optim.SGD([{"params": [a]}, {"params": [b]}], lr=1.0)
    plateau = schedules.ReduceLROnPlateau(optimizer, factor=0.5, patience=0, min_lr=(0.75, 0.25))
    for _ in range(4):
        plateau.step(1.0)
    assert plateau.get_last_lr() == [0.75, 0.25]
    with pytest.raises(ValueError, match="one for each of the 2 groups, got 1"):
        schedules.ReduceLROnPlateau(optimizer, min_lr=[0.1])
    optimizer.add_param_group({"params": [hg.ones(1, requires_grad=True)]})
    with pytest.raises(ValueError, match="one for each of the 3 groups, got 2"):
        plateau.step(1.0)


def test_late_updates_keep_the_bits():
    weights = []
    for late in [False, True]:
        p = hg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        optimizer = hg.optim.Adam([p], lr=0.1)
        optimizer.set_late_updates(late, min_elements=1)
        assert optimizer.has_late_updates == late
        for _ in range(3):
            optimizer.zero_grad()
            (p * p).sum().backward()
            optimizer.step()
        weights.append(p.tolist())
    assert weights[0] == weights[1] != [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(ValueError, match="set_late_updates: expected min_elements >= 1, got 0"):
        optimizer.set_late_updates(True, min_elements=0)
