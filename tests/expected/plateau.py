"""Writes plateau.json: learning rates of ReduceLROnPlateau over 60 epochs, two groups. PyTorch 2.15.0.

    python plateau.py
"""

import torch

import expected

EPOCHS = 60

RUNS = [
    dict(),
    dict(patience=1, factor=0.5),
    dict(patience=0, factor=0.5, cooldown=3, threshold=0.05),
    dict(patience=2, factor=0.3, threshold=0.01, threshold_mode="abs", min_lr=[1e-3, 5e-3]),
    dict(mode="max", patience=1, factor=0.5, cooldown=2),
    dict(mode="max", patience=1, factor=0.5, threshold=0.1, threshold_mode="abs", min_lr=1e-3),
    dict(patience=0, factor=0.1, eps=1e-4),
]


def metrics():
    """A noisy curve that falls, stays and rises; one value is NaN."""
    random = torch.Generator().manual_seed(0)
    epoch = torch.arange(EPOCHS, dtype=torch.float64)
    curve = 2 * torch.exp(-epoch / 8) + (epoch - 40).clamp(min=0) / 40
    values = curve + 0.02 * torch.randn(EPOCHS, dtype=torch.float64, generator=random)
    values[5] = float("nan")
    return values.tolist()


def rates(options, values):
    groups = [
        dict(params=[torch.nn.Parameter(torch.zeros(1))], lr=lr) for lr in (0.1, 0.02)
    ]
    optimizer = torch.optim.SGD(groups)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
    rows = []
    for value in values:
        scheduler.step(value)
        rows.append([group["lr"] for group in optimizer.param_groups])
    return rows


def main():
    values = metrics()
    runs = [dict(options=options, rates=rates(options, values)) for options in RUNS]
    expected.write("plateau.json", metrics=expected.numbers(values), runs=runs)


if __name__ == "__main__":
    main()
