"""Two models with two optimizers and one GradScaler, as in PyTorch's AMP examples."""

import torch
from torch import nn
from arrays import normal, weights


def make_model(seed):
    model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 2))
    model.load_state_dict({k: torch.tensor(v) for k, v in weights(model, seed).items()})
    return model


def main(seed):
    x, y = torch.tensor(normal(seed, 32, 5)), torch.tensor(normal(seed + 1, 32, 2))
    first, second = make_model(seed), make_model(seed + 1)
    optimizer0 = torch.optim.Adam(first.parameters(), lr=0.01, amsgrad=True)
    optimizer1 = torch.optim.SGD(second.parameters(), lr=0.05, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0 ** 14, growth_interval=4)
    losses = []
    for step in range(12):
        optimizer0.zero_grad()
        optimizer1.zero_grad()
        output0, output1 = first(x), second(x)
        loss0 = nn.functional.mse_loss(2 * output0 + 3 * output1, y)
        loss1 = nn.functional.mse_loss(3 * output0 - 5 * output1, y)
        if step == 6:
            loss1 = loss1 * float("inf")
        scaler.scale(loss0).backward(retain_graph=True)
        scaler.scale(loss1).backward()
        scaler.unscale_(optimizer0)
        nn.utils.clip_grad_norm_(first.parameters(), 1.0)
        scaler.step(optimizer0)
        scaler.step(optimizer1)
        scaler.update()
        losses += [loss0.item(), scaler.get_scale()]
    state = scaler.state_dict()
    return losses + [state["scale"], state["growth_factor"], state["_growth_tracker"]]
