"""A critic with a gradient penalty: the gradient of a gradient, as in WGAN-GP."""

import torch
from torch import autograd, nn
from arrays import normal, weights


def penalty(critic, real, fake, mix):
    between = mix * real + (1 - mix) * fake
    between = autograd.Variable(between, requires_grad=True)
    scores = critic(between)
    gradients = autograd.grad(outputs=scores, inputs=between, grad_outputs=torch.ones(scores.size()),
                              create_graph=True, retain_graph=True, only_inputs=True)[0]
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean() * 10


def main(seed):
    critic = nn.Sequential(nn.Linear(5, 12), nn.Softplus(), nn.Linear(12, 1))
    critic.load_state_dict({k: torch.tensor(v) for k, v in weights(critic, seed).items()})
    optimizer = torch.optim.RMSprop(critic.parameters(), lr=5e-3)
    losses = []
    for step in range(12):
        real = torch.from_numpy(normal(seed + step, 16, 5)) + 1
        fake = torch.from_numpy(normal(seed + step + 100, 16, 5)) - 1
        mix = torch.from_numpy(normal(seed + step + 200, 16, 1)).sigmoid().expand(real.size())
        critic.zero_grad()
        added = penalty(critic, real.data, fake.data, mix)
        loss = critic(fake).mean() - critic(real).mean() + added
        loss.backward()
        optimizer.step()
        losses += [loss.item(), added.item()]
    return losses
