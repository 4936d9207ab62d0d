"""Writes loops.json: the loops of examples/amp_loops with autocast and GradScaler on the CPU.
PyTorch 2.15.0.

    python loops.py

For each step of a loop: the loss, the scale after update(), whether the (first) optimizer skipped, and
`seen`, a further value that the loop shows, if it has one. Data and weights use the formulas of
examples/amp_loops/regression.cpp. In worker_threads the two halves run one after the other here.

The skipped steps do not depend on rounding errors. The script asserts it: runs with 1 % of noise on the
activations skip the same steps.
"""

import math

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

import expected

STEPS = 24
NOISY_RUNS = 3
BATCH, FEATURES, HIDDEN = 8, 8, 16
LR = 0.125
SCALER = dict(init_scale=2.0**24, growth_factor=2.0, backoff_factor=0.5, growth_interval=4)

noise = 0.0


def noisy(values):
    return values * (1 + noise * (2 * torch.rand_like(values) - 1)) if noise else values


def pattern(rows, columns, first, multiplier, divisor):
    k = torch.arange(first, first + rows * columns) * multiplier % 61 - 30
    return (k / divisor).reshape(rows, columns)


class Regression(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = torch.nn.Linear(FEATURES, HIDDEN)
        self.output = torch.nn.Linear(HIDDEN, 1)
        with torch.no_grad():
            for p in self.parameters():
                p.copy_(pattern(1, p.numel(), 1, 37, 64).reshape(p.shape))

    def forward(self, x):
        return self.output(noisy(torch.tanh(self.hidden(x))))


def batch(number):
    x = pattern(BATCH, FEATURES, number * BATCH * FEATURES, 29, 16)
    return x, x[:, 0:1] * x[:, 1:2] - x[:, 2:3]


def region(**options):
    return torch.autocast("cpu", dtype=torch.float16, **options)


def make_scaler(**options):
    return torch.amp.GradScaler("cpu", **(SCALER | options))


def sgd(model, lr=LR):
    return torch.optim.SGD(model.parameters(), lr=lr)


class Watch:
    """Records whether a step was taken, which PyTorch's scaler does not return."""

    def __init__(self, optimizer):
        self.stepped = False
        optimizer.register_step_post_hook(self.note)

    def note(self, *_):
        self.stepped = True

    def skipped(self):
        stepped, self.stepped = self.stepped, False
        return not stepped


def number(value):
    return expected.numbers(torch.as_tensor(value).detach())


def row(loss, scaler, skipped, seen=None):
    known = {} if seen is None else dict(seen=number(seen))
    return dict(loss=number(loss), scale=scaler.get_scale(), skipped=skipped) | known


def train(steps, loss_of, lr=LR, before_step=None, enabled=True):
    """The plain loop. Most loops differ from it in the loss, or between backward and step."""
    model = Regression()
    optimizer, scaler = sgd(model, lr), make_scaler(enabled=enabled)
    watch = Watch(optimizer)
    rows = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = loss_of(model, *batch(step))
        scaler.scale(loss).backward()
        seen = None
        if before_step:
            scaler.unscale_(optimizer)
            seen = before_step(list(model.parameters()))
        scaler.step(optimizer)
        scaler.update()
        rows.append(row(loss, scaler, watch.skipped(), seen))
    return rows


def plain_loss(model, x, y):
    with region():
        return F.mse_loss(model(x), y)


def accumulation(steps, window=4):
    model = Regression()
    optimizer, scaler = sgd(model), make_scaler()
    watch = Watch(optimizer)
    rows = []
    for step in range(steps):
        optimizer.zero_grad()
        total = 0.0
        for i in range(window):
            loss = plain_loss(model, *batch(step * window + i)) / window
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.step(optimizer)
        scaler.update()
        rows.append(row(total, scaler, watch.skipped()))
    return rows


def clip_norm(steps):
    return train(
        steps, plain_loss, before_step=lambda p: torch.nn.utils.clip_grad_norm_(p, 0.5)
    )


def clip_value(steps):
    def clip(parameters):
        largest = torch.nn.utils.get_total_norm([p.grad for p in parameters], math.inf)
        torch.nn.utils.clip_grad_value_(parameters, 0.25)
        return largest

    return train(steps, plain_loss, before_step=clip)


def gradient_penalty(steps):
    model = Regression()
    optimizer, scaler = sgd(model), make_scaler()
    watch = Watch(optimizer)
    rows = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = plain_loss(model, *batch(step))
        parameters = list(model.parameters())
        scaled = torch.autograd.grad(scaler.scale(loss), parameters, create_graph=True)
        inv_scale = 1.0 / scaler.get_scale()
        gradients = [gradient * inv_scale for gradient in scaled]
        with region():
            penalty = sum(gradient.pow(2).sum() for gradient in gradients).sqrt() / 8
            loss = loss + penalty
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        rows.append(row(loss, scaler, watch.skipped(), penalty))
    return rows


def several_losses(steps):
    a, b = Regression(), Regression()
    first, second = sgd(a, LR / 32), sgd(b, LR / 32)
    watch, second_watch = Watch(first), Watch(second)
    scaler = make_scaler()
    rows = []
    for step in range(steps):
        x, y = batch(step)
        first.zero_grad()
        second.zero_grad()
        with region():
            out_a, out_b = a(x), b(x / 64)
            loss_a = F.mse_loss(out_a * 2 + out_b * 3, y)
            loss_b = F.mse_loss(out_a * 3 - out_b * 0.125, y)
        scaler.scale(loss_a).backward(retain_graph=True)
        scaler.scale(loss_b).backward()
        scaler.unscale_(first)
        scaler.step(first)
        scaler.step(second)
        scaler.update()
        rows.append(
            row(loss_a.item() + loss_b.item(), scaler, watch.skipped(), float(second_watch.skipped()))
        )
    return rows


def scaler_per_loss(steps):
    a, b = Regression(), Regression()
    optimizer_a, optimizer_b = sgd(a), sgd(b, LR / 1024)
    watch = Watch(optimizer_a)
    scaler_a, scaler_b = make_scaler(), make_scaler()
    rows = []
    for step in range(steps):
        x, y = batch(step)
        optimizer_a.zero_grad()
        optimizer_b.zero_grad()
        with region():
            loss_a = F.mse_loss(a(x), y)
            loss_b = F.mse_loss(b(x), y) * 1024
        scaler_a.scale(loss_a).backward()
        scaler_b.scale(loss_b).backward()
        scaler_a.step(optimizer_a)
        scaler_b.step(optimizer_b)
        scaler_a.update()
        scaler_b.update()
        rows.append(
            row(loss_a.item() + loss_b.item(), scaler_a, watch.skipped(), scaler_b.get_scale())
        )
    return rows


def inspection(steps, too_large=5.6):
    model = Regression()
    optimizer, scaler = sgd(model), make_scaler()
    rows = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = plain_loss(model, *batch(step))
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = torch.nn.utils.get_total_norm([p.grad for p in model.parameters()])
        keep = norm.item() < too_large
        if keep:
            scaler.step(optimizer)
        scaler.update()
        rows.append(row(loss, scaler, not keep, norm))
    return rows


def disabled(steps):
    def loss(model, x, y):
        with region(enabled=False):
            return F.mse_loss(model(x), y)

    def clip(parameters):
        torch.nn.utils.clip_grad_norm_(parameters, 0.5)

    return train(steps, loss, before_step=clip, enabled=False)


class FifthPower(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.pow(5)

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, grad):
        return grad * 5 * ctx.saved_tensors[0].pow(4)


def custom_function(steps):
    def loss(model, x, y):
        with region():
            power = FifthPower.apply(noisy(torch.tanh(model.hidden(x))) * 16)
            return F.mse_loss(model.output(power / 2**20), y)

    return train(steps, loss, LR / 64)


def island(steps):
    def loss(model, x, y):
        with region():
            hidden = noisy(torch.tanh(model.hidden(x)))
            with region(enabled=False):
                output = model.output(hidden.float())
            return F.mse_loss(output, y)

    return train(steps, loss)


def worker_threads(steps):
    def loss(model, x, y):
        halves = [plain_loss(model, *half) for half in zip(x.chunk(2), y.chunk(2))]
        return sum(halves) / 2

    return train(steps, loss)


def exceptions(steps):
    model = Regression()
    optimizer, scaler = sgd(model), make_scaler()
    watch = Watch(optimizer)
    rows = []
    for step in range(steps):
        x, y = batch(step)
        if step % 5 == 3:
            x = x[:, 1:]
        optimizer.zero_grad()
        try:
            loss = plain_loss(model, x, y)
        except RuntimeError:
            rows.append(row(0.0, scaler, True, 1.0))
            continue
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        rows.append(row(loss, scaler, watch.skipped(), 0.0))
    return rows


def checkpointing(steps):
    def loss(model, x, y):
        with region():
            return F.mse_loss(checkpoint(model, x, use_reentrant=False), y)

    return train(steps, loss)


def module_policy(steps):
    def loss(model, x, y):
        hidden = F.linear(x.half(), model.hidden.weight.half(), model.hidden.bias.half())
        return F.mse_loss(model.output(noisy(torch.tanh(hidden)).float()), y)

    return train(steps, loss)


def master_weights(steps):
    model = Regression().half()
    masters = [p.detach().float().requires_grad_() for p in model.parameters()]
    optimizer, scaler = torch.optim.SGD(masters, lr=LR), make_scaler()
    watch = Watch(optimizer)
    rows = []
    for step in range(steps):
        x, y = batch(step)
        model.zero_grad()
        loss = F.mse_loss(model(x.half()).float(), y)
        scaler.scale(loss).backward()
        for master, p in zip(masters, model.parameters()):
            master.grad = p.grad.float()
        scaler.step(optimizer)
        scaler.update()
        with torch.no_grad():
            for master, p in zip(masters, model.parameters()):
                p.copy_(master)
        rows.append(row(loss, scaler, watch.skipped()))
    return rows


LOOPS = [
    accumulation,
    clip_norm,
    clip_value,
    gradient_penalty,
    several_losses,
    scaler_per_loss,
    inspection,
    disabled,
    custom_function,
    island,
    worker_threads,
    exceptions,
    checkpointing,
    module_policy,
    master_weights,
]


def decisions(rows):
    return [(row["skipped"], row["scale"]) for row in rows]


def main():
    global noise
    loops = []
    for loop in LOOPS:
        noise = 0.0
        rows = loop(STEPS)
        torch.manual_seed(0)
        noise = 0.01
        for _ in range(NOISY_RUNS):
            assert decisions(loop(STEPS)) == decisions(rows), loop.__name__
        columns = {key: [row[key] for row in rows] for key in rows[0]}
        loops.append(dict(loop=loop.__name__, **columns))
    expected.write("loops.json", scaler=SCALER, loops=loops)


if __name__ == "__main__":
    main()
