"""Writes schedulers.json: learning rates of two parameter groups over 40 steps. PyTorch 2.15.0.

    python schedulers.py

Row k of `lr` has the learning rates of the groups in optimizer step k, counted from 0; the scheduler
steps after each optimizer step. Rows of OneCycleLR also have the momentum (SGD) or beta1 (Adam).
"""

import math

import torch
from torch.optim import lr_scheduler as schedulers

import expected

STEPS = 40
GROUP_LRS = (0.1, 0.02)


# Tests with two schedules, one after the other; OneCycleLR sets the initial lr of both.
LINEAR = ("linear", dict(start_factor=0.1, total_iters=10))
CYCLE = ("one_cycle", dict(max_lr=[0.5, 0.06], total_steps=30, div_factor=10.0))
SEQUENTIAL = [
    (LINEAR, ("cosine", dict(T_max=30, eta_min=0.001))),
    (LINEAR, CYCLE),
    (CYCLE, LINEAR),
]
CLASSES = dict(
    linear=schedulers.LinearLR,
    cosine=schedulers.CosineAnnealingLR,
    one_cycle=schedulers.OneCycleLR,
)


def one_then_other(optimizer, pair):
    return schedulers.SequentialLR(
        optimizer,
        [CLASSES[name](optimizer, **options) for name, options in pair],
        milestones=[10],
    )


# name, class, options: PyTorch's spelling.
PLAIN = [
    ("step", schedulers.StepLR, dict(step_size=7, gamma=0.5)),
    ("multi_step", schedulers.MultiStepLR, dict(milestones=[5, 11, 11, 30], gamma=0.3)),
    ("cosine", schedulers.CosineAnnealingLR, dict(T_max=40, eta_min=0.0)),
    ("cosine_past_end", schedulers.CosineAnnealingLR, dict(T_max=15, eta_min=0.005)),
    ("linear_warm_up", schedulers.LinearLR, dict(start_factor=0.25, total_iters=8)),
    ("linear_default", schedulers.LinearLR, dict()),
    (
        "linear_down",
        schedulers.LinearLR,
        dict(start_factor=1.0, end_factor=0.1, total_iters=30),
    ),
    ("exponential", schedulers.ExponentialLR, dict(gamma=0.9)),
]

ONE_CYCLE = [
    dict(max_lr=[0.1, 0.02], total_steps=STEPS, anneal_strategy=anneal, three_phase=three_phase)
    for anneal in ("cos", "linear")
    for three_phase in (False, True)
] + [
    dict(
        max_lr=[0.1, 0.02],
        total_steps=STEPS,
        pct_start=0.25,
        div_factor=10.0,
        final_div_factor=100.0,
        base_momentum=0.8,
        max_momentum=0.9,
    )
]


def groups():
    return [dict(params=[torch.nn.Parameter(torch.zeros(1))], lr=lr) for lr in GROUP_LRS]


def sequence(optimizer, scheduler, read):
    rows = []
    for _ in range(STEPS):
        rows.append([read(group) for group in optimizer.param_groups])
        optimizer.step()
        if len(rows) < STEPS:
            scheduler.step()
    return rows


def lr_and_momentum(group):
    momentum = group["betas"][0] if "betas" in group else group["momentum"]
    return (group["lr"], momentum)


def row(name, options, make_scheduler):
    optimizer = torch.optim.SGD(groups())
    scheduler = make_scheduler(optimizer)
    lr = sequence(optimizer, scheduler, lambda group: group["lr"])
    return dict(name=name, options=options, lr=lr)


def one_cycle_row(optimizer_name, optimizer, options):
    scheduler = schedulers.OneCycleLR(optimizer, **options)
    pairs = sequence(optimizer, scheduler, lr_and_momentum)
    return dict(
        name="one_cycle",
        optimizer=optimizer_name,
        options=options,
        lr=[[lr for lr, _ in groups] for groups in pairs],
        momentum=[[momentum for _, momentum in groups] for groups in pairs],
    )


def main():
    rows = [
        row(name, options, lambda optimizer: make(optimizer, **options))
        for name, make, options in PLAIN
    ]
    factors = [lambda step: 0.95**step, lambda step: 1 / math.sqrt(step + 1)]
    rows.append(
        row(
            "lambda",
            dict(lr_lambda=["0.95^step", "1/sqrt(step+1)"]),
            lambda optimizer: schedulers.LambdaLR(optimizer, factors),
        )
    )
    for pair in SEQUENTIAL:
        rows.append(
            row(
                "sequential",
                dict(schedulers=pair, milestones=[10]),
                lambda optimizer, pair=pair: one_then_other(optimizer, pair),
            )
        )
    for options in ONE_CYCLE:
        rows.append(one_cycle_row("sgd", torch.optim.SGD(groups(), momentum=0.9), options))
    rows.append(one_cycle_row("adam", torch.optim.Adam(groups()), ONE_CYCLE[0]))
    expected.write("schedulers.json", group_lrs=list(GROUP_LRS), sequences=rows)


if __name__ == "__main__":
    main()
