#!/usr/bin/env python3
"""PyTorch's accuracy on the MNIST task of mnist_mlp, for comparison.

    python3 -m venv .venv && .venv/bin/pip install torch numpy
    .venv/bin/python bench/pytorch_mnist.py --data DIR

DIR holds t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz. The first 8,000 images train,
the last 2,000 test; 784-512-512-10, batch 128 (last one incomplete), Adam 1e-3, pixels / 255,
fp32.
"""

import argparse
import gzip
import pathlib
import statistics

try:
    import numpy
    import torch
    from torch import nn
    from torch.nn.functional import cross_entropy
except ImportError:
    torch = None  # --help works without them

TRAIN, BATCH = 8000, 128


def read_idx(path, header_bytes):
    return numpy.frombuffer(gzip.open(path).read(), numpy.uint8, offset=header_bytes)


def load(folder):
    images = read_idx(folder / "t10k-images-idx3-ubyte.gz", 16).reshape(-1, 784)
    labels = read_idx(folder / "t10k-labels-idx1-ubyte.gz", 8)
    return torch.tensor(images / numpy.float32(255)), torch.tensor(labels, dtype=torch.int64)


def accuracy_after_training(images, labels, epochs, seed):
    torch.manual_seed(seed)
    model = nn.Sequential(
        nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(epochs):
        for batch in torch.randperm(TRAIN).split(BATCH):
            optimizer.zero_grad()
            cross_entropy(model(images[batch]), labels[batch]).backward()
            optimizer.step()
    with torch.no_grad():
        correct = model(images[TRAIN:]).argmax(1) == labels[TRAIN:]
    return 100 * correct.double().mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        parser.error(f"--data: expected a folder, got no such folder: {arguments.data}")
    if torch is None:
        parser.exit(1, "pytorch_mnist: expected torch and numpy: python3 -m pip install torch numpy\n")
    images, labels = load(arguments.data)
    accuracies = []
    for seed in range(arguments.seeds):
        accuracies.append(accuracy_after_training(images, labels, arguments.epochs, seed))
        print(f"seed {seed}: {accuracies[-1]:.2f} %", flush=True)
    print(f"mean of {len(accuracies)}: {statistics.mean(accuracies):.2f} %")


if __name__ == "__main__":
    main()
