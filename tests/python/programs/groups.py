"""Parameter groups, frozen layers that thaw, and schedules in sequence."""

import torch
from torch import nn, optim
from arrays import normal, weights
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, OneCycleLR, SequentialLR


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict({"body": nn.Linear(8, 16), "head": nn.Linear(16, 1)})
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(1)) for _ in range(2)])
        self.extra = nn.ParameterDict({"shift": nn.Parameter(torch.zeros(1))})

    def forward(self, x):
        x = torch.tanh(self.parts["body"](x)) * self.scales[0]
        return self.parts["head"](x) * self.scales[1] + self.extra["shift"]


def main(seed):
    x, y = torch.tensor(normal(seed, 32, 8)), torch.tensor(normal(seed + 1, 32))
    model = Model()
    model.load_state_dict({k: torch.tensor(v) for k, v in weights(model, seed).items()})
    for parameter in model.parts["body"].parameters():
        parameter.requires_grad = False
    optimizer = optim.AdamW(filter(lambda p: p.requires_grad, model.parameters()), lr=0.02)
    scheduler = SequentialLR(optimizer, schedulers=[
        LinearLR(optimizer, start_factor=0.25, total_iters=4),
        CosineAnnealingLR(optimizer, T_max=10, eta_min=1e-3)], milestones=[4])
    losses = []
    for step in range(12):
        if step == 6:
            model.parts["body"].requires_grad_(True)
            optimizer.add_param_group({"params": list(model.parts["body"].parameters()), "lr": 0.01})
        optimizer.zero_grad()
        loss = (model(x).squeeze(1) - y).pow(2).mean()
        loss.backward()
        optimizer.step()
        if step < 6:
            scheduler.step()
        losses += [loss.item()] + [group["lr"] for group in optimizer.param_groups]
    cycled = optim.SGD([{"params": model.parts.parameters()},
                        {"params": [*model.scales, *model.extra.values()], "momentum": 0.5}],
                       lr=0.01, momentum=0.9)
    scheduler = OneCycleLR(cycled, max_lr=0.1, total_steps=8, pct_start=0.25)
    for step in range(8):
        cycled.zero_grad()
        loss = nn.MSELoss()(model(x).flatten(), y)
        loss.backward()
        cycled.step()
        if step < 7:
            scheduler.step()
        losses += [loss.item(), cycled.param_groups[0]["lr"], cycled.param_groups[1]["momentum"]]
    return losses
