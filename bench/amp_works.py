"""Shared by compare_pytorch_cuda.py and compare_jax.py: the workloads, halfgrad's times, the report.

A workload is one training step of an MLP with ReLU and cross entropy, on a batch that stays on the
device: fp16 compute, fp32 weights, loss scaling, gradients clipped to norm 1, Adam.
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

# name of the workload: layer sizes, batch; the same as in bench/amp_works.h.
WORKS = {
    "S": ((784, 512, 512, 10), 256),
    "W64x14": ((64, 64, 64, 64, 64, 10), 1 << 14),
    "W64x18": ((64, 64, 64, 64, 64, 10), 1 << 18),
    "W128x14": ((128, 128, 128, 128, 128, 10), 1 << 14),
    "W128x18": ((128, 128, 128, 128, 128, 10), 1 << 18),
    "L": ((4096, 4096, 4096, 4096, 4096), 8192),
}
OUR_MODES = ("eager", "graph", "eager_no_scaler", "graph_no_scaler")
# FusedMLP; on a GPU it fuses up to 128 features, by warpgroups only if the GPU has them.
FUSED_MODES = ("eager_fused", "graph_fused", "graph_warpgroups")
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def parser(description):
    result = argparse.ArgumentParser(description=description.splitlines()[0])
    result.add_argument("folder", nargs="?", type=pathlib.Path,
                        help="folder of bench_amp_step; build/cuda/bin or build/cpu/bin by default")
    result.add_argument("--device", choices=("cuda", "cpu"), default="cuda",
                        help="cpu: a smoke test")
    result.add_argument("--works", nargs="*", choices=WORKS, default=list(WORKS))
    result.add_argument("--rounds", type=int, default=3)
    result.add_argument("--seconds", type=float, default=1.0, help="per case and round")
    result.add_argument("--json", help="file to write")
    result.add_argument("--case", nargs=2, help=argparse.SUPPRESS)
    return result


def parse(description):
    """Parses the arguments; ends with status 2 if the folder has no bench_amp_step."""
    arguments = parser(description).parse_args()
    preset = arguments.device
    folder = arguments.folder or ROOT / "build" / preset / "bin"
    if not arguments.case and shutil.which(folder / "bench_amp_step") is None:
        parser(description).error(
            f"expected bench_amp_step, got no program at {folder / 'bench_amp_step'}; build it: cmake --preset "
            f"{preset} -DHALFGRAD_BENCH=ON && cmake --build --preset {preset} --target bench_amp_step")
    arguments.folder = folder
    return arguments


def sample(step, wait, seconds, calls):
    """Seconds per call, measured for `calls` calls between waits, until `seconds` have passed."""
    for _ in range(3):
        step()
    wait()
    samples = []
    end = time.perf_counter() + seconds
    while not samples or time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(calls):
            step()
        wait()
        samples.append((time.perf_counter() - start) / calls)
    return samples


def our_samples(arguments, name):
    command = [str(arguments.folder / "bench_amp_step"),
               f"--benchmark_filter=^{name}/{arguments.device}/real_time$",
               f"--benchmark_min_time={arguments.seconds / 5}", "--benchmark_repetitions=5",
               "--benchmark_format=json"]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    rows = json.loads(run.stdout)["benchmarks"] if run.stdout.lstrip().startswith("{") else []
    if not rows:
        sys.exit(f"expected a benchmark {name} in {command[0]}, got none")
    return [row["real_time"] * UNITS[row["time_unit"]]
            for row in rows if row["run_type"] == "iteration"]


def their_samples(script, arguments, work, mode):
    """Runs in a separate process, so that no case finds another's memory or threads."""
    command = [sys.executable, script, "--case", work, mode, "--device", arguments.device,
               "--seconds", str(arguments.seconds)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(f"expected {' '.join(command)} to work, got status {run.returncode}")
    return json.loads(run.stdout.splitlines()[-1])


def measure(script, arguments, their_modes):
    """Medians in seconds, {work: {mode: time}}, halfgrad's first; and the other library's versions."""
    times = {work: {} for work in arguments.works}
    about = {}
    for number in range(arguments.rounds):
        for work in arguments.works:
            print(f"round {number + 1} of {arguments.rounds}: {work}", file=sys.stderr)
            fused = FUSED_MODES if max(WORKS[work][0]) <= 128 else ()
            for mode in OUR_MODES + fused:
                samples = our_samples(arguments, f"amp_step/{work}/{mode}")
                times[work].setdefault(f"halfgrad {mode}", []).extend(samples)
            samples = our_samples(arguments, f"products/{work}")
            times[work].setdefault("halfgrad products", []).extend(samples)
            for mode in their_modes:
                about = their_samples(script, arguments, work, mode)
                times[work].setdefault(mode, []).extend(about.pop("samples"))
    medians = {work: {mode: statistics.median(samples) for mode, samples in modes.items()}
               for work, modes in times.items()}
    return medians, about


def requirements(times, bars):
    """Rows of (name, ratio, bound, whether the bound is a minimum)."""
    rows = []
    for work, modes in times.items():
        ours = modes.get("halfgrad graph")
        if ours is None:
            continue
        for other, bound in bars.get(work[0], {}).items():
            if other in modes:
                rows.append((f"{work}: {other} / ours in a graph", modes[other] / ours, bound, True))
        cost = ours / modes["halfgrad graph_no_scaler"]
        rows.append((f"{work}: ours with a scaler / without", cost, 1.03, False))
        if work == "L":
            share = modes["halfgrad products"] / ours
            rows.append(("L: its products alone / ours in a graph", share, 0.9, True))
    return rows


def report(script, arguments, times, about, bars):
    modes = list(dict.fromkeys(mode for row in times.values() for mode in row))
    lines = ["| work, us | " + " | ".join(modes) + " |", "|---" + "|---:" * len(modes) + "|"]
    for work, row in times.items():
        cells = (f"{row[mode] * 1e6:,.1f}" if mode in row else "-" for mode in modes)
        lines.append(f"| {work} | " + " | ".join(cells) + " |")
    rows = requirements(times, bars) if arguments.device == "cuda" else []
    if rows:
        lines += ["", "| ratio | measured | bound | |", "|---|---:|---:|---|"]
    for what, ratio, bound, at_least in rows:
        met = ratio >= bound if at_least else ratio <= bound
        sign = "at least" if at_least else "at most"
        lines.append(f"| {what} | {ratio:.2f} | {sign} {bound} | {'yes' if met else 'no'} |")
    print("; ".join(f"{key} {value}" for key, value in about.items()) + "\n\n" + "\n".join(lines))
    if arguments.json:
        settings = dict(about, device=arguments.device, rounds=arguments.rounds,
                        seconds=arguments.seconds, load=os.getloadavg()[0],
                        script=os.path.basename(script))
        result = dict(settings=settings, seconds=times,
                      ratios=[dict(zip(("what", "ratio", "bound", "at_least"), row))
                              for row in rows])
        pathlib.Path(arguments.json).write_text(json.dumps(result, indent=1) + "\n")
