"""Writes optimizers.json: six steps of each optimizer over a grid of options. PyTorch 2.15.0.

    python optimizers.py

Uses f64 and four parameters; the file stores their initial values and gradients. Row k of `params` is
the parameters after step k. In runs with `late_gradient` the parameter has no gradient in the first two
steps.
"""

import torch

import expected

STEPS, SIZE = 6, 4

SGD = [
    dict(),
    dict(momentum=0.9),
    dict(momentum=0.9, dampening=0.5),
    dict(momentum=1.5, dampening=-0.25),
    dict(momentum=0.9, nesterov=True),
    dict(weight_decay=0.1),
    dict(weight_decay=0.1, maximize=True),
    dict(momentum=0.9, weight_decay=0.1),
    dict(momentum=0.9, dampening=0.1, weight_decay=0.01, maximize=True),
    dict(momentum=0.9, weight_decay=0.1, nesterov=True, maximize=True),
]

ADAM = [
    dict(),
    dict(lr=1e-3, betas=(0.9, 0.95)),
    dict(betas=(0.5, 0.75), eps=1e-2),
    dict(betas=(0.0, 0.0)),
    dict(weight_decay=0.1),
    dict(weight_decay=0.1, maximize=True),
    dict(amsgrad=True, betas=(0.5, 0.5)),
    dict(amsgrad=True, weight_decay=0.5, maximize=True, betas=(0.3, 0.6), eps=1e-3),
]

RMSPROP = [
    dict(),
    dict(momentum=0.9),
    dict(centered=True),
    dict(alpha=0.9, momentum=0.5, centered=True, weight_decay=0.1, eps=1e-3),
    dict(momentum=0.9, weight_decay=0.1, maximize=True),
    dict(alpha=0.0),
]

ADAGRAD = [
    dict(),
    dict(lr_decay=0.5, weight_decay=0.1),
    dict(initial_accumulator_value=0.25, eps=1e-2, maximize=True),
]

ADADELTA = [
    dict(lr=1.0),
    dict(rho=0.5, eps=1e-3, weight_decay=0.1),
    dict(rho=0.0, maximize=True, weight_decay=0.1),
    dict(rho=1.0),
]

ADAMAX = [
    dict(),
    dict(betas=(0.5, 0.75), eps=1e-2, weight_decay=0.1),
    dict(betas=(0.0, 0.0), maximize=True, weight_decay=0.1),
]

# betas (0.5, 0.75) never rectify, (0.9, 0.999) begin in the sixth step.
RADAM = [
    dict(),
    dict(lr=2e-3, eps=1e-2, weight_decay=0.1),
    dict(betas=(0.5, 0.75), weight_decay=0.1, decoupled_weight_decay=True),
    dict(betas=(0.0, 0.99), weight_decay=0.1, maximize=True),
]

NADAM = [
    dict(),
    dict(momentum_decay=0.5, eps=1e-2, weight_decay=0.1),
    dict(betas=(0.5, 0.75), weight_decay=0.1, decoupled_weight_decay=True),
    dict(betas=(0.3, 0.6), momentum_decay=0.0, weight_decay=0.1, maximize=True),
]

GRID = [("sgd", torch.optim.SGD, dict(lr=0.1) | options) for options in SGD]
GRID += [("adam", torch.optim.Adam, dict(lr=0.1) | options) for options in ADAM]
GRID += [("adamw", torch.optim.AdamW, dict(lr=0.1) | options) for options in ADAM]


OTHERS = [
    ("rmsprop", torch.optim.RMSprop, RMSPROP),
    ("adagrad", torch.optim.Adagrad, ADAGRAD),
    ("adadelta", torch.optim.Adadelta, ADADELTA),
    ("adamax", torch.optim.Adamax, ADAMAX),
    ("radam", torch.optim.RAdam, RADAM),
    ("nadam", torch.optim.NAdam, NADAM),
]
GRID += [(name, make, dict(lr=0.1) | options) for name, make, grid in OTHERS for options in grid]


def data():
    """Gradients that become smaller, so that amsgrad's maximum is not the latest value."""
    random = torch.Generator().manual_seed(0)
    start = torch.randn(SIZE, dtype=torch.float64, generator=random)
    gradients = torch.randn(STEPS, SIZE, dtype=torch.float64, generator=random)
    return start, gradients * 0.6 ** torch.arange(STEPS, dtype=torch.float64)[:, None]


def run(make_optimizer, options, start, gradients):
    parameter = torch.nn.Parameter(start.clone())
    optimizer = make_optimizer([parameter], foreach=False, **options)
    rows = []
    for gradient in gradients:
        parameter.grad = gradient.clone() if gradient is not None else None
        optimizer.step()
        rows.append(parameter.tolist())
    return rows


def main():
    start, gradients = data()
    runs = [
        dict(optimizer=name, options=options, params=run(make, options, start, gradients))
        for name, make, options in GRID
    ]
    late = [None, None, *gradients[2:]]
    runs += [
        dict(
            optimizer=name,
            options=options,
            late_gradient=True,
            params=run(make, options, start, late),
        )
        for name, make, options in (GRID[2], GRID[len(SGD)])
    ]
    expected.write("optimizers.json", start=start.tolist(), gradients=gradients.tolist(), runs=runs)


if __name__ == "__main__":
    main()
