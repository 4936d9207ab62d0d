"""Differentiable functions of the user's own, also under autocast, and second derivatives."""

import torch
from torch import nn
from torch.amp import custom_bwd, custom_fwd
from torch.autograd import Function
from arrays import normal, weights


class Quantise(Function):
    """Rounds to multiples of a step; the gradient passes straight through inside the limits."""

    @staticmethod
    def forward(ctx, x, step):
        ctx.save_for_backward(x)
        ctx.step = step
        return torch.round(x / step) * step

    @staticmethod
    def backward(ctx, gradient):
        x, = ctx.saved_tensors
        assert ctx.needs_input_grad == (True, False)
        return gradient * (x.abs() <= 1).to(gradient.dtype), None


class Cube(Function):
    @staticmethod
    @custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, x):
        ctx.save_for_backward(x)
        assert not torch.is_autocast_enabled("cpu")
        return x ** 3

    @staticmethod
    @custom_bwd(device_type="cpu")
    def backward(ctx, gradient):
        x, = ctx.saved_tensors
        assert not torch.is_autocast_enabled("cpu")
        return 3 * x ** 2 * gradient


def main(seed):
    x, y = torch.tensor(normal(seed, 24, 4)), torch.tensor(normal(seed + 1, 24, 1))
    model = nn.Sequential(nn.Linear(4, 12), nn.Sigmoid(), nn.Linear(12, 1))
    model.load_state_dict({k: torch.tensor(v) for k, v in weights(model, seed).items()})
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    losses = []
    for _ in range(10):
        optimizer.zero_grad(set_to_none=False)
        loss = nn.functional.mse_loss(Quantise.apply(model(x), 0.25), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    for _ in range(3):
        inputs = x.clone().requires_grad_(True)
        output = Cube.apply(model(inputs)).sum()
        gradient, = torch.autograd.grad(output, inputs, create_graph=True)
        penalty = (gradient.norm(2, dim=1) - 1).square().mean()
        model.zero_grad()
        penalty.backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= 0.05 * parameter.grad
        losses.append(penalty.item())
    assert Cube.apply(torch.ones(2, dtype=torch.float64)).dtype == torch.float64
    return losses
