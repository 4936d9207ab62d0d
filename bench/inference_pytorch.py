#!/usr/bin/env python3
"""Times PyTorch's inference in fp16 on a GPU, as bench_inference times halfgrad's: one call and the wait for it.

    bench/inference_pytorch.py       # prints microseconds, medians
"""

import argparse
import statistics

import amp_works


def model_of(torch, sizes):
    layers = []
    for fan_in, fan_out in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(fan_in, fan_out), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1]).cuda().half().eval()


def captured(torch, step):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        step()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def main():
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    import torch  # after --help, which needs no PyTorch

    torch.set_grad_enabled(False)
    for work in ("S", "W64x14", "L"):
        for batch in (1, 256):
            sizes = amp_works.WORKS[work][0]
            model, x = model_of(torch, sizes), torch.randn(batch, sizes[0]).cuda().half()
            for mode in ("eager", "graph"):
                step = (lambda: model(x)) if mode == "eager" else captured(torch, lambda: model(x))
                samples = amp_works.sample(step, torch.cuda.synchronize, 0.2, 1)
                print(f"inference/{work}/{batch}/{mode}: {statistics.median(samples) * 1e6:.1f} us")


if __name__ == "__main__":
    main()
