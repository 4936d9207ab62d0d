#!/usr/bin/env python3
"""PyTorch on the task of README's table: mean and standard deviation of test accuracy over seeds.

    bench/digits_pytorch.py DIR [seeds]    DIR: MNIST's t10k files, gzipped or not
"""
import argparse
import gzip
import pathlib
import statistics
import struct

try:
    import torch
except ImportError:
    torch = None  # --help works without it


def read_idx(folder, name):
    """The uint8 tensor of an IDX file."""
    path = next(pathlib.Path(folder).glob(name + "*"))
    data = (gzip.open if path.suffix == ".gz" else open)(path, "rb").read()
    dims = struct.unpack(f">{data[3]}I", data[4 : 4 + 4 * data[3]])
    return torch.frombuffer(bytearray(data[4 + 4 * data[3] :]), dtype=torch.uint8).reshape(dims)


def accuracy(x, y, seed):
    """Trains 784-512-512-10 for 10 epochs of Adam on the first 8,000 images; the accuracy on the
    others in percent."""
    torch.manual_seed(seed)
    model = torch.nn.Sequential(
        torch.nn.Linear(784, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512), torch.nn.ReLU(),
        torch.nn.Linear(512, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(10):
        for batch in torch.randperm(8000).split(128):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x[batch]), y[batch]).backward()
            optimizer.step()
    with torch.no_grad():
        return 100 * (model(x[8000:]).argmax(1) == y[8000:]).float().mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="MNIST's t10k files, gzipped or not")
    parser.add_argument("seeds", type=int, nargs="?", default=20)
    arguments = parser.parse_args()
    if not arguments.folder.is_dir():
        parser.error(f"expected a folder, got no such folder: {arguments.folder}")
    if torch is None:
        parser.exit(1, "digits_pytorch: PyTorch is missing: python3 -m pip install torch\n")
    torch.set_num_threads(2)
    pixels = read_idx(arguments.folder, "t10k-images").reshape(-1, 784).float()
    labels = read_idx(arguments.folder, "t10k-labels").long()
    found = [accuracy((pixels / 255 - 0.1307) / 0.3081, labels, seed)
             for seed in range(arguments.seeds)]
    print(f"{statistics.mean(found):.2f} +- {statistics.stdev(found):.2f} %")


if __name__ == "__main__":
    main()
