"""Writes long_runs.json: 1,001 steps of each optimizer, in f64 and under a GradScaler. PyTorch 2.15.0.

    python long_runs.py

The parameters are a vector of 5 and a 3 x 4 matrix. The gradients are pseudo-random numbers of which every
program can compute the same bits (`Stream`): multiples of 1/256 in [-4, 4], every 97th set 16 times as
large. In f64 the loss is sum(g * p) + sum(p^2) / 4. Under the scaler it is sum(g * half(p)), whose fp16 gradients
overflow at large scales and depend on no rounding of p. A row of `params` holds all parameters after a step of `steps`.

PyTorch has no Lion and no LAMB: the classes here are algorithm 2 of arXiv 2302.06675 and of arXiv 1904.00962.
"""

import torch

import expected

STEPS = 1001
KEPT = [1, 2, 10, 100, 500, 1001]
SCALER = dict(init_scale=2.0**15, growth_factor=2.0, backoff_factor=0.5, growth_interval=20)


class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                m = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
                c = beta1 * m + (1 - beta1) * p.grad
                p -= group["lr"] * (c.sign() + group["weight_decay"] * p)
                m.mul_(beta2).add_(p.grad, alpha=1 - beta2)


class LAMB(torch.optim.Optimizer):
    def __init__(self, params, lr, betas=(0.9, 0.999), eps=1e-6, weight_decay=1e-2):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                state = self.state[p]
                state["step"] = t = state.get("step", 0) + 1
                m = state.setdefault("exp_avg", torch.zeros_like(p))
                v = state.setdefault("exp_avg_sq", torch.zeros_like(p))
                m.mul_(beta1).add_(p.grad, alpha=1 - beta1)
                v.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                r = (m / (1 - beta1**t)) / ((v / (1 - beta2**t)).sqrt() + group["eps"])
                r += group["weight_decay"] * p
                p -= group["lr"] * p.norm() / r.norm() * r


OPTIMIZERS = {
    "rmsprop": (torch.optim.RMSprop, dict(lr=0.01, momentum=0.9, centered=True)),
    "adagrad": (torch.optim.Adagrad, dict(lr=0.05, lr_decay=0.01, weight_decay=0.01)),
    "adadelta": (torch.optim.Adadelta, dict(lr=1.0)),
    "adamax": (torch.optim.Adamax, dict(lr=0.01)),
    "radam": (torch.optim.RAdam, dict(lr=0.01, weight_decay=0.01, decoupled_weight_decay=True)),
    "nadam": (torch.optim.NAdam, dict(lr=0.01, momentum_decay=0.004)),
    "lamb": (LAMB, dict(lr=0.01)),
    "lion": (Lion, dict(lr=0.001, weight_decay=0.1)),
}


class Stream:
    """Knuth's linear congruential generator, with its high bits."""

    def __init__(self):
        self.state = 1

    def next(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return ((self.state >> 33) % 2049 - 1024) / 256

    def tensors(self, factor=1.0):
        return [
            torch.tensor([factor * self.next() for _ in range(n)], dtype=torch.float64).view(shape)
            for n, shape in ((5, (5,)), (12, (3, 4)))
        ]


def train(make_optimizer, options, dtype, with_scaler):
    stream = Stream()
    params = [torch.nn.Parameter(p.to(dtype)) for p in stream.tensors()]
    optimizer = make_optimizer(params, **options)
    scaler = torch.amp.GradScaler("cpu", **SCALER, enabled=with_scaler)
    rows, skipped = [], []
    for step in range(1, STEPS + 1):
        gradients = stream.tensors(16.0 if step % 97 == 0 else 1.0)
        optimizer.zero_grad()
        if with_scaler:
            loss = sum((p.half() * g.half()).float().sum() for p, g in zip(params, gradients))
        else:
            loss = sum((p * g).sum() + (p * p).sum() / 4 for p, g in zip(params, gradients))
        scaler.scale(loss).backward()
        scale = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        if scaler.get_scale() < scale:
            skipped.append(step)
        if step in KEPT:
            rows.append(expected.numbers(torch.cat([p.detach().flatten() for p in params])))
    return rows, skipped, scaler.get_scale()


def main():
    runs = []
    for name, (make_optimizer, options) in OPTIMIZERS.items():
        f64, _, _ = train(make_optimizer, options, torch.float64, False)
        f32, skipped, scale = train(make_optimizer, options, torch.float32, True)
        assert 20 < len(skipped) < 200, (name, len(skipped))
        run = dict(optimizer=name, options=options, f64=f64, f32=f32)
        runs.append(run | dict(skipped=skipped, scale=scale))
    expected.write("long_runs.json", scaler=SCALER, steps=KEPT, runs=runs)


if __name__ == "__main__":
    main()
