"""A run that is saved, loaded in new objects and continued, beside an average of its weights."""

import copy
import io
import pickle

import torch
from torch import nn
from arrays import normal, weights


class Run:
    def __init__(self, seed):
        self.model = nn.Sequential(nn.Linear(6, 12), nn.LeakyReLU(0.1), nn.Linear(12, 2))
        state = weights(self.model, seed)
        self.model.load_state_dict({k: torch.tensor(v) for k, v in state.items()})
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.02)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, gamma=0.9)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=3)

    def parts(self):
        return {"model": self.model, "optimizer": self.optimizer, "scheduler": self.scheduler,
                "scaler": self.scaler}

    def state_dict(self):
        return {name: part.state_dict() for name, part in self.parts().items()}

    def load_state_dict(self, state):
        for name, part in self.parts().items():
            part.load_state_dict(state[name])

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(x), y)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.scheduler.step()
        return loss.item()


def main(seed):
    x = torch.tensor(normal(seed, 20, 6))
    y = (x[:, 0] * x[:, 1] > 0).to(torch.int64)
    run = Run(seed)
    average = copy.deepcopy(run.model).requires_grad_(False)
    losses = []
    for _ in range(6):
        losses.append(run.step(x, y))
        with torch.no_grad():
            for old, new in zip(average.parameters(), run.model.parameters()):
                old.mul_(0.5).add_(new, alpha=0.5)
    file = io.BytesIO()
    torch.save({"run": run.state_dict(), "step": 6, "rng": torch.get_rng_state()}, file)
    file.seek(0)
    saved = torch.load(file, map_location="cpu")
    torch.set_rng_state(saved["rng"])
    resumed = Run(seed + 1)
    resumed.load_state_dict(saved["run"])
    continued = [resumed.step(x, y) for _ in range(4)]
    assert continued == [run.step(x, y) for _ in range(4)]
    copied = pickle.loads(pickle.dumps(run.model))
    assert torch.equal(copied(x), run.model(x)) and copied[0] is not run.model[0]
    return losses + continued + [average(x).sum().item(), run.scheduler.get_last_lr()[0]]
