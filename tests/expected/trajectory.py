"""Writes trajectory_f32.json and trajectory_f64.json: 50 training steps per optimizer. PyTorch 2.15.0.

    python trajectory_data.py && python trajectory.py

Each file holds, per optimizer, the loss of every step (before its update) and the sum of the
squares of all parameters at the end.
"""

import torch
from torch.nn.functional import cross_entropy

import expected
from trajectory_data import OPTIMIZERS, load, mlp, sum_of_squares


def train(make_optimizer, options, dtype):
    parameters, inputs, labels = load(dtype)
    model = mlp(parameters)
    optimizer = make_optimizer(model.parameters(), **options)
    losses = []
    for x, y in zip(inputs, labels):
        optimizer.zero_grad()
        loss = cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses), sum_of_squares(model)


def main():
    for name, dtype in (("f32", torch.float32), ("f64", torch.float64)):
        runs = []
        for optimizer, (make_optimizer, options) in OPTIMIZERS.items():
            losses, checksum = train(make_optimizer, options, dtype)
            runs.append(
                dict(
                    optimizer=optimizer,
                    options=options,
                    losses=expected.numbers(losses),
                    sum_of_squares=checksum,
                )
            )
        expected.write(f"trajectory_{name}.json", runs=runs)


if __name__ == "__main__":
    main()
