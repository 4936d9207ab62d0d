"""A classifier with dropout off, momentum, weight decay and a schedule, then its accuracy."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from arrays import normal, weights


class Net(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.fc1 = nn.Linear(features, hidden)
        self.norm = nn.BatchNorm1d(hidden)
        self.fc2 = nn.Linear(hidden, classes)
        self.dropout = nn.Dropout(p=0.0)

    def forward(self, x):
        x = F.relu(self.norm(self.fc1(x)))
        return self.fc2(self.dropout(x))


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    logits = model(x)
    correct = (logits.argmax(dim=1) == y).sum().item()
    model.train()
    return correct / len(y), F.nll_loss(F.log_softmax(logits, dim=-1), y).item()


def main(seed):
    x = torch.from_numpy(normal(seed, 64, 10))
    y = (x[:, :3].sum(dim=1) > 0).long() + (x[:, 3] > 0.5).long()
    model = Net(10, 32, 3)
    state = {name: torch.tensor(array) for name, array in weights(model, seed).items()}
    result = model.load_state_dict(state, strict=False)
    assert all("norm" in name for name in result.missing_keys) and not result.unexpected_keys
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True,
                                weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=5, gamma=0.5)
    losses = []
    for epoch in range(10):
        for start in range(0, len(x), 16):
            optimizer.zero_grad(set_to_none=True)
            loss = criterion(model(x[start:start + 16]), y[start:start + 16])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        scheduler.step()
    assert not next(model.parameters()).grad.requires_grad
    total = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return losses + list(evaluate(model, x, y)) + [total, scheduler.get_last_lr()[0]]
