"""A search for the learning rate, cycles around it, and schedules that act together."""

import copy
import math

import numpy as np
import torch
from torch import nn
from arrays import normal, weights
from torch.optim.lr_scheduler import (ChainedScheduler, ConstantLR, CyclicLR, ExponentialLR,
                                      LambdaLR)


def main(seed):
    model = nn.Sequential(nn.Linear(6, 10), nn.Hardswish(), nn.Linear(10, 1))
    model.load_state_dict({k: torch.tensor(v) for k, v in weights(model, seed).items()})
    start = copy.deepcopy(model.state_dict())
    groups = [{"params": model[0].parameters(), "name": "first"},
              {"params": model[2].parameters(), "name": "last", "lr_scale": 0.5}]
    optimizer = torch.optim.SGD(groups, lr=1e-5, momentum=0.9)
    scheduler = LambdaLR(optimizer, lambda step: math.exp(step * math.log(1e5) / 30))
    rates, smooth, average = [], [], 0.0

    def update(step):
        x = torch.from_numpy(normal(seed + step, 8, 6))
        loss = nn.functional.mse_loss(model(x), x.mean(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    for step in range(25):
        rates.append(optimizer.param_groups[0]["lr"])
        average = 0.9 * average + 0.1 * update(step)
        smooth.append(average / (1 - 0.9 ** (step + 1)))
        scheduler.step()
    model.load_state_dict(start)
    best = rates[int(np.gradient(np.array(smooth)).argmin())]
    for group in optimizer.param_groups:
        group["lr"] = best * group.get("lr_scale", 1.0)
    values = smooth + rates
    cycles = CyclicLR(optimizer, base_lr=[best, best / 2], max_lr=0.05, step_size_up=3,
                      step_size_down=2, mode="triangular2")
    for step in range(12):
        values += [update(step), cycles.get_last_lr()[1], optimizer.param_groups[0]["momentum"]]
        cycles.step()
    state = cycles.state_dict()
    cycles.load_state_dict(state)
    together = ChainedScheduler([ConstantLR(optimizer, 0.5, 3), ExponentialLR(optimizer, 0.8)])
    for step in range(6):
        values += [update(step), *together.get_last_lr()]
        together.step()
    return values + [len(group["name"]) for group in optimizer.param_groups]
