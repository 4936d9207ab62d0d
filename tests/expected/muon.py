"""Writes muon.json: 30 steps of Muon on a 3 x 4 and a 6 x 2 matrix in f32. PyTorch 2.15.0.

    python muon.py

Start and gradients are those of `Stream` in long_runs.py, in this order: both matrices for each step. A row of
`params` holds both matrices after a step of `steps`.
"""

import torch

import expected
from long_runs import Stream

KEPT = [1, 10, 30]
SHAPES = [(3, 4), (6, 2)]

RUNS = [
    dict(lr=0.02),
    dict(lr=0.02, nesterov=False, momentum=0.5, weight_decay=1.0),
    dict(lr=0.02, adjust_lr_fn="match_rms_adamw", ns_steps=3),
    dict(lr=0.02, adjust_lr_fn="spectral_unclamped", weight_decay=0.0),
    dict(lr=0.02, ns_coefficients=(2.0, -1.5, 0.5), ns_steps=8),
]


def matrices(stream):
    return [
        torch.tensor([[stream.next() for _ in range(n)] for _ in range(m)]) for m, n in SHAPES
    ]


def run(options):
    stream = Stream()
    params = [torch.nn.Parameter(matrix) for matrix in matrices(stream)]
    optimizer = torch.optim.Muon(params, **options)
    rows = []
    for step in range(1, KEPT[-1] + 1):
        for param, gradient in zip(params, matrices(stream)):
            param.grad = gradient
        optimizer.step()
        if step in KEPT:
            rows.append(expected.numbers(torch.cat([p.detach().flatten() for p in params])))
    return dict(options=options, params=rows)


def main():
    expected.write("muon.json", steps=KEPT, runs=[run(options) for options in RUNS])


if __name__ == "__main__":
    main()
