"""Gradients of four small batches make one step; their norm is clipped, and a tensor's by a hook."""

import torch
import torch.nn as nn
from arrays import normal, weights


def main(seed):
    x, y = torch.tensor(normal(seed, 48, 6)), torch.tensor(normal(seed + 1, 48, 1))
    model = nn.Sequential(nn.Linear(6, 24), nn.SiLU(), nn.Linear(24, 24), nn.ELU(alpha=0.7),
                          nn.Linear(24, 1))
    model.load_state_dict({k: torch.tensor(v) for k, v in weights(model, seed).items()})
    model[0].weight.register_hook(lambda gradient: gradient.clamp(-0.05, 0.05))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    losses, accumulated = [], 4
    loss_function = nn.SmoothL1Loss(beta=0.5)
    optimizer.zero_grad()
    for epoch in range(5):
        for i, (inputs, target) in enumerate(zip(x.split(4), y.split(4))):
            loss = loss_function(model(inputs), target) / accumulated
            loss.backward()
            if (i + 1) % accumulated == 0:
                norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5, norm_type=2)
                nn.utils.clip_grad_value_(model.parameters(), 0.2)
                optimizer.step()
                optimizer.zero_grad()
                losses.append(norm.item())
            losses.append(loss.item() * accumulated)
    with torch.no_grad():
        losses.append(torch.nn.functional.l1_loss(model(x), y, reduction="sum").item())
    return losses
