#!/usr/bin/env python3
"""Compiles the programs in right/ and runs them under the emulator in several ways: none may alarm.

Each runs eagerly and lazily, with one host thread and with several. A program checks its own results.

usage: right.py HALFGRAD_EMULATE [--work FOLDER] [--jobs N] [--only TEXT] [--part I/N]
"""

import argparse
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from planted import HERE, compile_program, devices, gpu_of, part

WAYS = [["--threads", "1"], ["--threads", "4"],
        ["--threads", "1", "--streams", "lazy", "--seed", "1"],
        ["--threads", "3", "--streams", "lazy", "--seed", "2"]]


def check(source, folder, emulate):
    """Returns "" or what is wrong."""
    try:
        program = compile_program(source, folder)
    except RuntimeError as error:
        return f"does not compile\n{error}"
    for way in WAYS:
        try:
            done = subprocess.run([emulate, *way, "--gpu", gpu_of(source),
                                   "--devices", str(devices(source)), str(program)],
                                  capture_output=True, text=True, timeout=120, check=False)
        except subprocess.TimeoutExpired:
            return f"{' '.join(way)}: takes longer than 120 s"
        if done.returncode != 0:
            return f"{' '.join(way)}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("emulate")
    parser.add_argument("--work", default="/tmp/right", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--part", type=part, default="1/1")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    sources = [source for source in sorted((HERE / "right").glob("*.cu")) if options.only in source.name]
    sources = sources[options.part]
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda source: check(source, options.work, options.emulate), sources))
    wrong = [(source, result) for source, result in zip(sources, results) if result]
    for source, result in wrong:
        print(f"{source.name}: {result}")
    print(f"{len(sources) - len(wrong)} of {len(sources)} programs are silent and right")
    return 1 if wrong or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
