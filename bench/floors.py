#!/usr/bin/env python3
"""Lower bounds for the workloads of bench/amp_works.py: counts the FLOPs and bytes of one step.

    bench/floors.py        # the tables of docs/performance.md

A multiply-add counts as two FLOPs. Every layer's activations go through memory once in each
direction; "optimizer" is unscale, norm, clip and Adam as separate passes over float32.
"""

import argparse

import amp_works

# Data sheet of the H100 SXM: dense fp16 tensor cores (half the sparse figure), HBM3.
FLOPS, BYTES = 989.4e12, 3.35e12
# Bytes per parameter, read (r) and written (w): cast 4r 2w, used 2r forward and 2r backward, gradient
# 2w, cast 2r 4w, unscale 4r 4w, norm 4r, clip 4r 4w, Adam 16r 12w.
WEIGHTS, OPTIMIZER = 6 + 4 + 8, 8 + 4 + 8 + 28


def flops(sizes, batch):
    products = [fan_in * fan_out for fan_in, fan_out in zip(sizes, sizes[1:])]
    return 2 * batch * (3 * sum(products) - products[0])  # the input needs no gradient


def activation_bytes(sizes, batch):
    """fp16: each layer reads x and writes y; backward reads x and dy and writes dx."""
    cast = (4 + 2) * sizes[0]
    forward = sum(2 * (x + y) for x, y in zip(sizes, sizes[1:]))
    backward = sum(2 * (2 * x + y) for x, y in zip(sizes, sizes[1:])) - 2 * sizes[0]
    loss = 2 * 2 * sizes[-1]
    return batch * (cast + forward + loss + backward)


def parameters(sizes):
    return sum((fan_in + 1) * fan_out for fan_in, fan_out in zip(sizes, sizes[1:]))


def main():
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    print("| work | parameters | GFLOP | arithmetic, us | activations, MB | weights, MB "
          "| optimizer, MB | memory, us |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name, (sizes, batch) in amp_works.WORKS.items():
        count, work = parameters(sizes), flops(sizes, batch)
        moved = activation_bytes(sizes, batch), WEIGHTS * count, OPTIMIZER * count
        cells = [f"{count:,}", f"{work / 1e9:,.2f}", f"{work / FLOPS * 1e6:,.1f}"]
        cells += [f"{part / 1e6:,.1f}" for part in moved]
        cells.append(f"{sum(moved) / BYTES * 1e6:,.1f}")
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
