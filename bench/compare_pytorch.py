#!/usr/bin/env python3
"""Times training steps of halfgrad and PyTorch on the CPU: one run, alternating rounds, medians.

    python3 -m venv .venv && .venv/bin/pip install torch
    cmake --preset cpu && cmake --build --preset cpu --target bench_training_step
    .venv/bin/python bench/compare_pytorch.py --threads 2

A step is zero_grad, forward, cross_entropy, backward, Adam; eager; in f32, or under autocast in bf16
or fp16, fp16 with a GradScaler. The requirements in f32 compare with torch.optim.Adam(parameters,
lr=1e-3), whose default updates one tensor at a time on the CPU; those in 16 bits with the fastest of
that, foreach=True and fused=True, which another column shows. In each round every case is
timed for --seconds in PyTorch, then in halfgrad, each in a separate process: waiting threads of one
would slow the other. The machine must be idle otherwise: with another busy process PyTorch's medians
were five times too long.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = str(ROOT / "build" / "cpu" / "bin" / "bench_training_step")

# layer sizes, batch, largest allowed ratio of halfgrad's time to PyTorch's in f32
WORKS = (
    ((64, 64, 10), 32, 1 / 3),
    ((784, 128, 10), 64, 1 / 3),
    ((784, 512, 512, 10), 128, 0.6),
    ((1024, 1024, 1024, 1024), 512, 0.9),
)
LIMIT_16_BIT = 1.0  # against PyTorch's fastest Adam
PRECISIONS = ("f32", "bf16", "fp16")


def name_of(sizes, batch, precision):
    return f"train_step/{'-'.join(map(str, sizes))}/{batch}/{precision}"


# name of the benchmark: layer sizes, batch, precision, limit
STEPS = {
    name_of(sizes, batch, precision): (
        sizes, batch, precision, limit if precision == "f32" else LIMIT_16_BIT)
    for sizes, batch, limit in WORKS for precision in PRECISIONS
}
WIDE_F32 = name_of(*WORKS[-1][:2], "f32")
WIDE_F16 = name_of(*WORKS[-1][:2], "fp16")
WIDE_F16_LIMIT = 1.3

# one-element operations: largest allowed time in seconds
OVERHEADS = {"mul_forward_1_element": 0.3e-6, "mul_backward_1_element": 0.5e-6}

ADAMS = {"default": {}, "foreach": dict(foreach=True), "fused": dict(fused=True)}

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def torch_step(torch, sizes, batch, precision, **adam):
    layers = []
    for fan_in, fan_out in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(fan_in, fan_out), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers[:-1])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, **adam)
    inputs = torch.randn(batch, sizes[0])
    labels = torch.randint(sizes[-1], (batch,))

    dtype = torch.float16 if precision == "fp16" else torch.bfloat16
    scaler = torch.amp.GradScaler("cpu", enabled=precision == "fp16")

    def step():
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=dtype, enabled=precision != "f32"):
            loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    return step


def sample(function, seconds):
    """Seconds per call, in chunks long enough for the clock, until `seconds` have passed."""
    start = time.perf_counter()
    for _ in range(4):  # to warm up; calls of seconds need less
        function()
        if time.perf_counter() - start > seconds:
            break
    start = time.perf_counter()
    function()
    calls = max(1, int(1e-3 / (time.perf_counter() - start)))
    samples = []
    end = time.perf_counter() + seconds
    while not samples or time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(calls):
            function()
        samples.append((time.perf_counter() - start) / calls)
    return samples


def torch_samples(name, threads, seconds):
    """Samples of one case for every Adam, timed in this process: for --torch-case."""
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(threads)
    sizes, batch, precision, _ = STEPS[name]
    return dict(
        torch=torch.__version__,
        samples={
            adam: sample(torch_step(torch, sizes, batch, precision, **options), seconds / len(ADAMS))
            for adam, options in ADAMS.items()
        },
    )


def their_samples(name, threads, seconds):
    command = [sys.executable, __file__, "--torch-case", name]
    command += ["--threads", str(threads), "--seconds", str(seconds)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit("compare_pytorch: PyTorch is missing or fails: python3 -m pip install torch")
    return json.loads(run.stdout)


def our_samples(binary, name, threads, seconds):
    """Seconds per iteration of every repetition of one benchmark: of steps, the median."""
    repetitions = 5
    command = [
        binary,
        f"--benchmark_filter=^{name}(/|$)",
        f"--benchmark_min_time={seconds / repetitions}",
        f"--benchmark_repetitions={repetitions}",
        "--benchmark_format=json",
    ]
    environment = os.environ | {"HALFGRAD_NUM_THREADS": str(threads)}
    run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
    rows = json.loads(run.stdout)["benchmarks"] if run.stdout.lstrip().startswith("{") else []
    if not rows:
        sys.exit(f"compare_pytorch: expected a benchmark {name} in {binary}, got none")
    return [
        row.get("median_s") or row["real_time"] * UNITS[row["time_unit"]]
        for row in rows
        if row["run_type"] == "iteration"
    ]


def measure(arguments):
    """Medians in seconds, halfgrad's by benchmark, PyTorch's by benchmark and Adam; its version."""
    theirs = {name: {adam: [] for adam in ADAMS} for name in STEPS}
    ours = {name: [] for name in [*STEPS, *OVERHEADS]}
    version = ""
    for round_number in range(arguments.rounds):
        print(f"round {round_number + 1} of {arguments.rounds}", file=sys.stderr)
        for name in ours:
            if name in STEPS:
                their = their_samples(name, arguments.threads, arguments.seconds)
                version = their["torch"]
                for adam, samples in their["samples"].items():
                    theirs[name][adam] += samples
            ours[name] += our_samples(
                arguments.binary, name, arguments.threads, arguments.seconds
            )
    return (
        {name: statistics.median(samples) for name, samples in ours.items() if samples},
        {
            name: {adam: statistics.median(samples) for adam, samples in by_adam.items()}
            for name, by_adam in theirs.items()
        },
        version,
    )


def quotient(one, other):
    return one / other if one and other else None


def their_time(by_adam, precision):
    """What a requirement compares with, and its time."""
    if precision == "f32":
        return "PyTorch", by_adam["default"]
    return "PyTorch, fastest Adam", min(by_adam.values())


def compare(ours, theirs):
    """One row per requirement: both times in seconds, their ratio and its limit."""
    rows = [
        (name, ours.get(name), *their_time(theirs[name], precision), limit)
        for name, (_, _, precision, limit) in STEPS.items()
    ]
    rows.append((WIDE_F16, ours.get(WIDE_F16), "our f32", ours.get(WIDE_F32), WIDE_F16_LIMIT))
    for name, limit in OVERHEADS.items():
        rows.append((name, ours.get(name), "requirement", limit, 1.0))
    return [
        dict(
            benchmark=name,
            ours=our_time,
            against=against,
            other=other,
            ratio=quotient(our_time, other),
            limit=limit,
            adams=theirs.get(name, {}),
        )
        for name, our_time, against, other, limit in rows
    ]


def microseconds(seconds):
    return f"{seconds * 1e6:,.2f}" if seconds else "-"


def shown(ratio):
    return f"{ratio:.2f}" if ratio else "-"


def fastest(row):
    """PyTorch's time with its fastest Adam, the name of that, and the ratio of our time to it."""
    if not row["adams"]:
        return "- | -"
    adam, seconds = min(row["adams"].items(), key=lambda item: item[1])
    return f"{microseconds(seconds)} ({adam}) | {shown(quotient(row['ours'], seconds))}"


def markdown(rows):
    lines = [
        "| benchmark | ours, us | against | its us | ratio | at most | | fastest Adam | ratio |",
        "|---|---:|---|---:|---:|---:|---|---:|---:|",
    ]
    for row in rows:
        is_met = ("yes" if row["ratio"] <= row["limit"] else "no") if row["ratio"] else ""
        lines.append(
            f"| {row['benchmark']} | {microseconds(row['ours'])} | {row['against']} "
            f"| {microseconds(row['other'])} | {shown(row['ratio'])} | {row['limit']:.2f} "
            f"| {is_met} | {fastest(row)} |"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "binary", nargs="?", default=PROGRAM, help="halfgrad's benchmarks; %(default)s by default"
    )
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="per case, library and round")
    parser.add_argument("--json", default="compare_pytorch.json", help="file to write")
    parser.add_argument("--torch-case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.torch_case:
        print(json.dumps(torch_samples(arguments.torch_case, arguments.threads, arguments.seconds)))
        return

    if shutil.which(arguments.binary) is None:
        parser.error(
            f"expected bench_training_step, got no program at {arguments.binary}; build it: "
            "cmake --preset cpu && cmake --build --preset cpu --target bench_training_step"
        )
    load, _, _ = os.getloadavg()
    ours, theirs, version = measure(arguments)
    rows = compare(ours, theirs)
    print(
        f"PyTorch {version}, {arguments.threads} threads, load {load:.1f} at the start, "
        f"medians of {arguments.rounds} rounds\n\n{markdown(rows)}"
    )
    with open(arguments.json, "w") as file:
        settings = dict(torch=version, load=load, **vars(arguments))
        json.dump(dict(settings=settings, rows=rows), file, indent=1)


if __name__ == "__main__":
    main()
