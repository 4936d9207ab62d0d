"""Schedules that resume in the middle, and that refuse what they cannot do."""

import math

import pytest

import halfgrad as hg
from halfgrad import io, optim
from halfgrad.optim import lr_scheduler as schedules


def sgd(lr=0.1):
    return optim.SGD([hg.ones(1, requires_grad=True)], lr=lr, momentum=0.9)


def chained(optimizer):
    return schedules.ChainedScheduler([schedules.ConstantLR(optimizer, 0.5, 4),
                                       schedules.CosineAnnealingLR(optimizer, 5)])


MAKERS = {
    "CyclicLR": lambda o: schedules.CyclicLR(o, 0.01, 0.3, 3, 2, mode="triangular2"),
    "exp_range": lambda o: schedules.CyclicLR(o, 0.01, 0.3, 3, mode="exp_range", gamma=0.9),
    "ChainedScheduler": chained,
    "OneCycleLR": lambda o: schedules.OneCycleLR(o, 0.3, 20),
    "CosineAnnealingWarmRestarts": lambda o: schedules.CosineAnnealingWarmRestarts(o, 3, 2),
}


def rates_of(optimizer, schedule, steps):
    values = []
    for _ in range(steps):
        optimizer.step()
        schedule.step()
        group = optimizer.param_groups[0]
        values += [group["lr"], group["momentum"], *schedule.get_last_lr()]
    return values


@pytest.mark.parametrize("through_checkpoint", [False, True])
@pytest.mark.parametrize("name", sorted(MAKERS))
def test_a_resumed_schedule_goes_on(name, through_checkpoint):
    optimizer = sgd()
    schedule = MAKERS[name](optimizer)
    if name == "CosineAnnealingWarmRestarts":
        schedule.step(4.25)
    rates_of(optimizer, schedule, 3)
    other = sgd(0.7)
    resumed = MAKERS[name](other)
    if through_checkpoint:
        checkpoint = io.Checkpoint()
        checkpoint.write("optimizer", optimizer)
        checkpoint.write("schedule", schedule)
        checkpoint.read("optimizer", other)
        checkpoint.read("schedule", resumed)
    else:
        other.load_state_dict(optimizer.state_dict())
        resumed.load_state_dict(schedule.state_dict())
    assert rates_of(other, resumed, 9) == rates_of(optimizer, schedule, 9)
    assert len(set(rates_of(other, resumed, 6)[::3])) > 1


def test_a_checkpoint_keeps_the_fraction_of_an_epoch():
    schedule = schedules.CosineAnnealingWarmRestarts(sgd(), 4)
    schedule.step(1.75)
    checkpoint = io.Checkpoint()
    checkpoint.write("schedule", schedule)
    resumed = schedules.CosineAnnealingWarmRestarts(sgd(), 4)
    checkpoint.read("schedule", resumed)
    resumed.step()
    assert resumed.get_last_lr() == pytest.approx([0.05 * (1 + math.cos(math.pi * 2.75 / 4))])


def test_chained_schedules_share_an_optimizer_and_skip_together():
    optimizer = sgd(1.0)
    schedule = chained(optimizer)
    assert schedule.get_last_lr() == [0.5] and optimizer.param_groups[0]["lr"] == 0.5
    with pytest.raises(ValueError, match="ChainedScheduler: expected one scheduler or more"):
        schedules.ChainedScheduler([])
    with pytest.raises(ValueError, match="expected schedulers of one optimizer"):
        schedules.ChainedScheduler([schedules.StepLR(optimizer, 1), schedules.StepLR(sgd(), 1)])
    state = schedule.state_dict()
    assert len(state["schedulers"]) == 2
    state["schedulers"].pop()
    with pytest.raises(ValueError, match="expected a state of 2 schedulers, got 1"):
        schedule.load_state_dict(state)


def test_wrong_options_are_refused():
    with pytest.raises(ValueError, match='expected mode "triangular".*got "square"'):
        schedules.CyclicLR(sgd(), 0.1, 0.2, mode="square")
    with pytest.raises(ValueError, match="expected step_size_up > 0, got 0"):
        schedules.CyclicLR(sgd(), 0.1, 0.2, 0)
    with pytest.raises(ValueError, match="expected one max_lr or one for each of the 1 groups, got 2"):
        schedules.CyclicLR(sgd(), 0.1, [0.2, 0.3])
    with pytest.raises(ValueError, match="expected an optimizer with momentum or betas"):
        schedules.CyclicLR(optim.Adagrad([hg.ones(1, requires_grad=True)]), 0.1, 0.2)
    zero = schedules.ConstantLR(sgd(), 0.0, 2)
    zero.step()
    assert zero.get_last_lr() == [0]
    with pytest.raises(RuntimeError, match="expected a factor above 0 in epoch 2"):
        zero.step()
