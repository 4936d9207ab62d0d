#!/usr/bin/env python3
"""Times mixed-precision steps of halfgrad and PyTorch on a GPU: one run, alternating, medians.

    bench/compare_pytorch_cuda.py build/cuda/bin --json torch.json
    bench/compare_pytorch_cuda.py build/cpu/bin --device cpu --works S --seconds 0.2   # a smoke test

PyTorch runs the step in three ways: eager with fused Adam; the whole step captured in a
torch.cuda.graph with a capturable Adam, which is the fair baseline; and with the model compiled by
torch.compile(mode="reduce-overhead"), whose forward and backward are CUDA graphs.
"""

import contextlib
import json

import amp_works

# Smallest allowed ratio of PyTorch's time to that of halfgrad's graph, by first letter of the work.
BARS = {
    "S": {"PyTorch eager": 5.0, "PyTorch graph": 1.5},
    "W": {"PyTorch eager": 2.0},
    "L": {"PyTorch eager": 1.1},
}
MODES = {"cuda": ("eager", "graph", "compile"), "cpu": ("eager",)}


def make_step(torch, work, mode, device):
    sizes, batch = amp_works.WORKS[work]
    layers = []
    for fan_in, fan_out in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(fan_in, fan_out), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers[:-1]).to(device)
    forward = torch.compile(model, mode="reduce-overhead") if mode == "compile" else model
    optimizer = torch.optim.Adam(
        model.parameters(), lr=1e-3, fused=True, capturable=mode == "graph"
    )
    scaler = torch.amp.GradScaler(device)
    inputs = torch.randn(batch, sizes[0], device=device)
    labels = torch.randint(sizes[-1], (batch,), device=device)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, torch.float16, cache_enabled=mode != "graph"):
            loss = torch.nn.functional.cross_entropy(forward(inputs), labels)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()

    return capture(torch, step) if mode == "graph" else step


def capture(torch, step):
    """Warms up on a separate stream, as PyTorch's notes on CUDA graphs advise, then captures."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def torch_samples(work, mode, device, seconds):
    import torch

    torch.manual_seed(0)
    on_gpu = device == "cuda"
    wait = torch.cuda.synchronize if on_gpu else contextlib.nullcontext
    step = make_step(torch, work, mode, device)
    samples = amp_works.sample(step, wait, seconds, 20 if on_gpu else 1)
    name = torch.cuda.get_device_name() if on_gpu else "the CPU"
    return dict(samples=samples, torch=torch.__version__, on=name)


def main():
    arguments = amp_works.parse(__doc__)
    if arguments.case:
        work, mode = arguments.case
        mode = mode.removeprefix("PyTorch ")
        print(json.dumps(torch_samples(work, mode, arguments.device, arguments.seconds)))
        return
    modes = [f"PyTorch {mode}" for mode in MODES[arguments.device]]
    times, about = amp_works.measure(__file__, arguments, modes)
    amp_works.report(__file__, arguments, times, about, BARS)


if __name__ == "__main__":
    main()
