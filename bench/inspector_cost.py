#!/usr/bin/env python3
"""Measures what the inspector costs a training step: switched off, and on for one step of a hundred.

  cmake --build --preset cpu --target bench_inspector_cost_with bench_inspector_cost_without
  bench/inspector_cost.py [FOLDER] [--rounds N] [--milliseconds N]

"off" is compared with a program whose autograd has no observer at all. It is the same source, but the
two places where an op meets its observer are compiled without the comparison. What stays in it: the
comparison of a loss of several ops, and the note of the module that runs.

The programs take turns on one thread, in a random order; each turn gives the CPU time of a step. The
result is the median, over the rounds, of the quotient of neighbouring turns, with its quartiles.
Bounds: 1.01 for off, 1.05 for on; the status is 1 if a median is above.
"""

import argparse
import pathlib
import random
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BOUNDS = {"off": 1.01, "on": 1.05}
CASES = {"without": ("without", "off"), "off": ("with", "off"), "on": ("with", "on")}  # program, mode


class Program:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.notifications = int(self.process.stdout.readline())

    def nanoseconds(self, net, mode, steps):
        print(net, mode, steps, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def measure(programs, net, rounds, milliseconds):
    """Returns the quotients to "without" of each case, and the median time of a step without."""
    first = programs["without"].nanoseconds(net, "off", 20)
    hundreds = max(1, round(milliseconds * 1e6 / first / 100))
    quotients = {"off": [], "on": []}
    times = []
    for _ in range(rounds):
        order = list(CASES)
        random.shuffle(order)
        result = {}
        for case in order:
            program, mode = CASES[case]
            result[case] = programs[program].nanoseconds(net, mode, 100 * hundreds)
        times.append(result["without"])
        for case, list_ in quotients.items():
            list_.append(result[case] / result["without"])
    return quotients, statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=ROOT / "build/cpu/bin")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--milliseconds", type=float, default=100, help="CPU time of a turn")
    arguments = parser.parse_args()
    random.seed(0)
    programs = {name: Program(arguments.folder / f"bench_inspector_cost_{name}")
                for name in ("with", "without")}
    expected = programs["with"].notifications
    if expected == 0 or programs["without"].notifications > 1:
        sys.exit(f"inspector_cost: expected an observer to be notified by one program alone, got "
                 f"{expected} and {programs['without'].notifications} calls in one step")
    good = True
    print(f"{'net':8}{'inspector':12}{'ratio':>8}{'quartiles':>18}{'bound':>8}{'step without':>16}")
    for net in ("small", "large"):
        quotients, time = measure(programs, net, arguments.rounds, arguments.milliseconds)
        for case, values in quotients.items():
            low, median, high = statistics.quantiles(values, n=4)
            good &= median <= BOUNDS[case]
            print(f"{net:8}{case:12}{median:8.3f}{low:10.3f}{high:8.3f}{BOUNDS[case]:8.2f}"
                  f"{time / 1e3:13.1f} us", flush=True)
    for program in programs.values():
        program.end()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
