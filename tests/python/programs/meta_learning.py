"""A gradient through a step of gradient descent, by torch.func and by autograd.grad."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad
from arrays import normal, weights


def main(seed):
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.LayerNorm(8, bias=False), nn.Linear(8, 1))
    model.load_state_dict({k: torch.tensor(v) for k, v in weights(model, seed).items()})
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    values = []
    for step in range(8):
        x = torch.from_numpy(normal(seed + step, 20, 3))
        y = x.sin().sum(1, keepdim=True)
        parameters = dict(model.named_parameters())
        inner = F.mse_loss(functional_call(model, parameters, (x[:10],)), y[:10])
        gradients = torch.autograd.grad(inner, tuple(parameters.values()), create_graph=True)
        adapted = {name: p - 0.1 * g for (name, p), g in zip(parameters.items(), gradients)}
        outer = F.mse_loss(functional_call(model, adapted, x[10:]), y[10:])
        optimizer.zero_grad()
        outer.backward()
        optimizer.step()
        values += [inner.item(), outer.item()]
    frozen = {name: p.detach() for name, p in model.named_parameters()}

    def loss_of(given, sample, target):
        return F.mse_loss(functional_call(model, given, (sample.unsqueeze(0),)), target.unsqueeze(0))

    for sample, target in zip(x[:3], y[:3]):
        by_name = grad(loss_of)(frozen, sample, target)
        values += [by_name[name].abs().sum().item() for name in sorted(by_name)]
    values += grad(lambda z: functional_call(model, frozen, z).sum())(x[0]).tolist()
    return values
