"""Hooks of modules and tensors that record activations, replace outputs and scale gradients."""

import torch
from torch import nn
from arrays import normal, weights


def main(seed):
    x, y = torch.tensor(normal(seed, 16, 4)), torch.tensor(normal(seed + 1, 16, 2))
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    model.load_state_dict({k: torch.tensor(v) for k, v in weights(model, seed).items()})
    seen = {}

    def record(name):
        def hook(module, arguments, output):
            seen[name] = output.detach().abs().mean().item()
        return hook

    handles = [layer.register_forward_hook(record(name)) for name, layer in model.named_modules()
               if not list(layer.children())]
    halving = model[2].register_forward_pre_hook(lambda module, arguments: (arguments[0] * 0.5,))
    doubling = model.register_forward_hook(lambda module, arguments, output: 2 * output)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for step in range(8):
        if step == 4:
            halving.remove()
            doubling.remove()
            for handle in handles[1:]:
                handle.remove()
            seen.clear()
        output = model(x)
        scaled = output.register_hook(lambda gradient: gradient * 0.5)
        loss = nn.functional.huber_loss(output, y)
        optimizer.zero_grad()
        loss.backward()
        scaled.remove()
        optimizer.step()
        losses += [loss.item(), *[seen[name] for name in sorted(seen)]]
    return losses
