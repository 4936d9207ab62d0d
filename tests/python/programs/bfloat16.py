"""Training in bfloat16 by autocast on the CPU, evaluated without gradients in float32."""

import torch
from torch import nn
from arrays import normal, weights


def main(seed):
    x, y = torch.tensor(normal(seed, 32, 8)), torch.tensor(normal(seed + 1, 32, 1))
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
    model.load_state_dict({k: torch.tensor(v) for k, v in weights(model, seed).items()})
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    losses = []
    for _ in range(20):
        with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
            output = model(x)
            assert output.dtype is torch.bfloat16
            loss = nn.functional.mse_loss(output.float(), y)
        optimizer.zero_grad()
        loss.backward()
        assert model[0].weight.grad.dtype == torch.float32
        optimizer.step()
        losses.append(loss.item())
    with torch.inference_mode():
        losses.append(nn.functional.mse_loss(model(x), y).item())
    return losses
