"""Writes trajectory_amp.json: fp16 autocast with GradScaler on the CPU. PyTorch 2.15.0.

    python trajectory_data.py && python trajectory_amp.py

The initial scale is so large that the scaled fp16 gradients overflow. The scale backs off, and grows
every few good steps until the gradients overflow again. For each step the file has the unscaled loss,
whether the step was skipped, and the scale after update().

The skipped steps do not depend on rounding errors. The script asserts it: every step skips the same
with a loss that is MARGIN times larger or smaller, and runs with 1 % of noise on the activations skip
the same steps.
"""

import torch
from torch.nn.functional import cross_entropy

import expected
from trajectory_data import OPTIMIZERS, load, mlp, sum_of_squares

SCALER = dict(init_scale=2.0**24, growth_factor=2.0, backoff_factor=0.5, growth_interval=4)
MARGIN = 1.1
NOISY_RUNS = 4


def overflows(model, loss):
    gradients = torch.autograd.grad(loss, list(model.parameters()), retain_graph=True)
    return not all(gradient.isfinite().all() for gradient in gradients)


def add_noise(module, inputs, output):
    return output * (1 + 0.01 * (2 * torch.rand_like(output) - 1))


def expect_fp16(module, inputs, output):
    assert output.dtype == torch.float16, f"linear ran in {output.dtype}"


def train(make_optimizer, options, data, noisy=False):
    """Returns one row per step, and the sum of the squares of all parameters at the end."""
    parameters, inputs, labels = data
    model = mlp(parameters)
    for layer in model:
        if isinstance(layer, torch.nn.Linear):
            layer.register_forward_hook(add_noise if noisy else expect_fp16)
    optimizer = make_optimizer(model.parameters(), **options)
    scaler = torch.amp.GradScaler("cpu", **SCALER)
    rows = []
    for x, y in zip(inputs, labels):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            loss = cross_entropy(model(x), y)
        scaled = scaler.scale(loss)
        decisions = {overflows(model, scaled * factor) for factor in (1 / MARGIN, 1, MARGIN)}
        scale = scaler.get_scale()
        scaled.backward()
        scaler.step(optimizer)
        scaler.update()
        rows.append(
            dict(
                loss=expected.numbers(loss),
                skipped=scaler.get_scale() < scale,
                scale=scaler.get_scale(),
                close_call=len(decisions) > 1,
            )
        )
    return rows, sum_of_squares(model)


def decisions(rows):
    return [row["skipped"] for row in rows]


def is_robust(rows, noisy_runs):
    close_call = any(row["close_call"] for row in rows)
    return not close_call and all(decisions(run) == decisions(rows) for run in noisy_runs)


def main():
    data = load(torch.float32)
    runs = []
    for optimizer in ("sgd_momentum", "adam", "adamw"):
        make_optimizer, options = OPTIMIZERS[optimizer]
        rows, checksum = train(make_optimizer, options, data)
        torch.manual_seed(0)
        noisy_runs = [train(make_optimizer, options, data, True)[0] for _ in range(NOISY_RUNS)]
        assert is_robust(rows, noisy_runs), optimizer
        runs.append(
            dict(
                optimizer=optimizer,
                options=options,
                losses=[row["loss"] for row in rows],
                skipped=[row["skipped"] for row in rows],
                scales=[row["scale"] for row in rows],
                sum_of_squares=checksum,
            )
        )
    expected.write("trajectory_amp.json", scaler=SCALER, runs=runs)


if __name__ == "__main__":
    main()
