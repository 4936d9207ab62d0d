"""An autoencoder of named layers with initialisation by apply(), Adam, and norms of parameters."""

from collections import OrderedDict

import torch
from torch import nn
from arrays import normal, weights


class Autoencoder(nn.Module):
    def __init__(self, size=12, code=3):
        super(Autoencoder, self).__init__()
        self.encoder = nn.Sequential(OrderedDict([
            ("dense", nn.Linear(size, 16)),
            ("norm", nn.LayerNorm(16)),
            ("act", nn.GELU()),
            ("code", nn.Linear(16, code)),
        ]))
        self.decoder = nn.Sequential(nn.Linear(code, 16), nn.Tanh(), nn.Linear(16, size))

    def forward(self, x):
        code = self.encoder(x)
        return self.decoder(code), code


def initialise(module):
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        nn.init.zeros_(module.bias)


@torch.no_grad
def reconstruction_error(model, x):
    output, _ = model(x)
    assert not output.requires_grad
    return torch.mean((output - x) ** 2).item()


def main(seed):
    x = torch.as_tensor(normal(seed, 40, 4) @ normal(seed + 1, 4, 12))
    model = Autoencoder()
    model.apply(initialise)
    assert model.encoder.dense.bias.abs().max().item() == 0
    model.load_state_dict({k: torch.tensor(v) for k, v in weights(model, seed).items()})
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, betas=(0.9, 0.99), eps=1e-8)
    losses = []
    for step in range(30):
        output, code = model(x)
        loss = nn.functional.mse_loss(output, x) + 1e-3 * code.abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    losses.append(reconstruction_error(model, x))
    for name, parameter in model.named_parameters():
        if name.endswith("weight"):
            losses.append(parameter.detach().norm().item())
    for child_name, child in model.named_children():
        losses.append(sum(p.pow(2).sum() for p in child.parameters()).item())
    return losses
