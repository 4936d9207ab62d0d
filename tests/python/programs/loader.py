"""A data set of the user's own, loaders with collation, subsets, and the best of several losses."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset
from arrays import normal, weights


class Points(Dataset):
    def __init__(self, seed, count):
        self.x = normal(seed, count, 3)
        self.y = (np.abs(self.x).sum(axis=1) > 2).astype(np.float32)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return torch.from_numpy(self.x[index]), self.y[index]


def collate(samples):
    x, y = zip(*samples)
    return {"x": torch.stack(x), "y": torch.tensor(np.array(y)).unsqueeze(1)}


def main(seed):
    points = Points(seed, 50)
    model = nn.Sequential(nn.Linear(3, 20), nn.ReLU(), nn.Linear(20, 1))
    model.load_state_dict({k: torch.tensor(v) for k, v in weights(model, seed).items()})
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([2.0]))
    losses = []
    for epoch in range(3):
        for batch in DataLoader(points, batch_size=16, collate_fn=collate):
            optimizer.zero_grad()
            loss = criterion(model(batch["x"]), batch["y"])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    held_out = DataLoader(Subset(points, range(10, 30)), batch_size=8, shuffle=False, drop_last=True)
    assert len(held_out) == 2
    for x, y in held_out:
        assert x.shape == (8, 3) and y.dtype == torch.float32 or y.dtype == torch.float64
        values, order = torch.sort(model(x).squeeze(-1).detach(), descending=True)
        best = torch.max(values.view(2, 4), dim=1)
        losses += [values[0].item(), int(order[0]), best.values[1].item(), best.indices[1].item()]
    pairs = TensorDataset(torch.arange(6), torch.arange(6, 12))
    assert pairs[2][1].item() == 8
    losses += [int((a * b).sum()) for a, b in DataLoader(pairs, batch_size=4)]
    return losses
