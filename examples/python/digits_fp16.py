"""Trains a network on synthetic digits in float16 with a GradScaler: examples/train_step.cpp in Python.

    python examples/python/digits_fp16.py --steps 60
"""

import argparse

import halfgrad as hg
from halfgrad import amp, data, nn, optim


def make_dataset(count: int, seed: int) -> data.TensorDataset:
    images, labels = data.synthetic_digits(count, seed)
    return data.TensorDataset(images.reshape(count, 784).float() / 255, labels)


def accuracy(model: nn.Module, dataset: data.TensorDataset) -> float:
    model.eval()
    with hg.no_grad():
        x, y = dataset.get_batch(range(len(dataset)))
        share = (model(x).argmax(dim=1) == y).float().mean().item()
    model.train()
    return share


def train(steps: int, epochs: int) -> None:
    loader = data.DataLoader(make_dataset(8000, seed=1), batch_size=128, shuffle=True)
    test = make_dataset(1000, seed=2)

    hg.manual_seed(0)
    model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10))
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    scaler = amp.GradScaler(history=1)
    step = 0
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            with amp.autocast("cpu"):  # float16 by default
                loss = nn.functional.cross_entropy(model(x), y)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            if step % 10 == 0:
                print(f"loss {loss.item():.3f}, {scaler.reports()[-1]['text']}")
            step += 1
            if step == steps:
                break
        if step == steps:
            break
    print(f"accuracy on 1000 other digits: {accuracy(model, test):.1%}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains on synthetic digits in float16.")
    parser.add_argument("--steps", type=int, default=0, help="stop after this many steps")
    parser.add_argument("--epochs", type=int, default=3)
    arguments = parser.parse_args()
    train(arguments.steps, arguments.epochs)
