"""A generator against a discriminator: detached inputs, noise from NumPy, balanced updates."""

import torch
from torch import nn
from arrays import normal, weights


def perceptron(sizes, seed, last=None):
    layers = []
    for inputs, outputs in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(inputs, outputs), nn.LeakyReLU(negative_slope=0.2)]
    layers[-1:] = [last] if last is not None else []
    model = nn.Sequential(*layers)
    model.load_state_dict({k: torch.tensor(v) for k, v in weights(model, seed).items()})
    return model


def main(seed):
    generator = perceptron([2, 16, 2], seed)
    discriminator = perceptron([2, 16, 1], seed + 1, nn.Sigmoid())
    real = torch.tensor(normal(seed + 2, 32, 2)) * 0.5 + torch.tensor([1.0, -1.0])
    by_generator = torch.optim.Adam(generator.parameters(), lr=0.01, betas=(0.5, 0.999))
    by_discriminator = torch.optim.Adam(discriminator.parameters(), lr=0.01, betas=(0.5, 0.999))
    criterion = nn.BCELoss()
    losses = []
    for step in range(12):
        noise = torch.tensor(normal(seed + 3 + step, 32, 2))
        fake = generator(noise)
        discriminator.zero_grad()
        on_real = criterion(discriminator(real), torch.ones(32, 1))
        on_fake = criterion(discriminator(fake.detach()), torch.zeros(32, 1))
        (on_real + on_fake).backward()
        by_discriminator.step()
        generator.zero_grad()
        loss = criterion(discriminator(fake), torch.full((32, 1), 1.0))
        loss.backward()
        by_generator.step()
        losses += [on_real.item(), on_fake.item(), loss.item()]
    spread = torch.stack([generator(torch.zeros(1, 2)).squeeze(0), real.mean(0), real.std(dim=0)])
    return losses + spread.flatten().tolist()
