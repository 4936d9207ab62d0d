"""Writes clip.json: clip_grad_norm_ and clip_grad_value_ on small gradients. PyTorch 2.15.0.

    python clip.py

`gradients` has one entry per parameter of `dtype`; `total` is the norm that clip_grad_norm_ returns,
`clipped` the gradients after clipping.
"""

import torch
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

import expected

INF, NAN = float("inf"), float("nan")
USUAL = [[3.0, 4.0], [0.0, 12.0]]

# gradients, dtype, max_norm, norm_type
NORMS = [
    (USUAL, "float64", 1.0, 2.0),
    (USUAL, "float64", 13.0, 2.0),
    (USUAL, "float64", 100.0, 2.0),
    (USUAL, "float64", 1.0, 1.0),
    (USUAL, "float64", 1.0, INF),
    (USUAL, "float64", 1.0, -INF),
    (USUAL, "float64", 1.0, 0.0),
    (USUAL, "float64", 1.0, 0.5),
    (USUAL, "float64", 1.0, 3.0),
    (USUAL, "float64", 0.0, 2.0),
    (USUAL, "float64", -1.0, 2.0),
    (USUAL, "float32", 1.0, 2.0),
    ([[0.0, 0.0], [0.0, 0.0]], "float64", 1.0, 2.0),
    ([[0.0, 0.0], [0.0, 12.0]], "float64", 1.0, 0.0),
    ([[INF, 1.0], [2.0, 0.0]], "float64", 1.0, 2.0),
    ([[INF, 1.0], [2.0, 0.0]], "float64", INF, 2.0),
    ([[NAN, 1.0], [2.0, 0.0]], "float64", 1.0, 2.0),
    ([[60000.0, 60000.0]], "float16", 1.0, 2.0),
    ([[3.0, 4.0]], "float16", 1.0, 2.0),
    ([[3.0, 4.0]], "bfloat16", 1.0, 2.0),
]

# gradients, dtype, clip_value
VALUES = [
    (USUAL, "float64", 3.5),
    ([[-3.0, 4.0], [0.0, -12.0]], "float32", 1.0),
    ([[NAN, 1.0], [INF, -INF]], "float64", 0.5),
    ([[1.0, -2.0]], "float64", -1.0),
    ([[3.0, -0.1]], "float16", 0.1),
    ([[3.0, -0.1]], "bfloat16", 0.1),
]


def with_gradients(gradients, dtype):
    parameters = []
    for values in gradients:
        gradient = torch.tensor(values, dtype=getattr(torch, dtype))
        parameters.append(torch.nn.Parameter(torch.zeros_like(gradient)))
        parameters[-1].grad = gradient
    return parameters


def norm_row(gradients, dtype, max_norm, norm_type):
    parameters = with_gradients(gradients, dtype)
    total = clip_grad_norm_(parameters, max_norm, norm_type)
    return dict(
        gradients=expected.numbers(gradients),
        dtype=dtype,
        max_norm=expected.numbers(max_norm),
        norm_type=expected.numbers(norm_type),
        total=expected.numbers(total),
        clipped=[expected.numbers(parameter.grad) for parameter in parameters],
    )


def value_row(gradients, dtype, clip_value):
    parameters = with_gradients(gradients, dtype)
    clip_grad_value_(parameters, clip_value)
    return dict(
        gradients=expected.numbers(gradients),
        dtype=dtype,
        clip_value=clip_value,
        clipped=[expected.numbers(parameter.grad) for parameter in parameters],
    )


def main():
    norms = [norm_row(*case) for case in NORMS]
    expected.write("clip.json", norms=norms, values=[value_row(*case) for case in VALUES])


if __name__ == "__main__":
    main()
