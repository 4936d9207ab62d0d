#!/usr/bin/env python3
"""Trains over MPI, and expects the same bits from every run.

    training.py PROGRAM RANKS     on this machine
    training.py PROGRAM nodes     on two network namespaces with a link between them, two ranks on each

PROGRAM is test_dist_ranks: it compares losses, skipped steps and scales with those of one rank, and
prints a hash of all results. Two runs must print the same one. Then 1, 2 and 4 ranks go on from the
checkpoint of the first run, and must end alike. Ends with 77, and the reason, where `nodes` cannot run.
"""

import os
import re
import subprocess
import sys
import tempfile

from two_nodes import TwoNodes

SECONDS = 240  # for a run, on a busy machine


def on_this_machine(ranks):
    return ["mpirun", "-n", str(ranks)]


def result_of(mpirun, program, mode, file):
    """The hash that a run prints."""
    command = [*mpirun, program, mode, file]
    environment = os.environ | {"HALFGRAD_TEST_TIMEOUT": str(1000 * SECONDS)}  # in which ranks wait
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=environment)
    except subprocess.TimeoutExpired as error:
        sys.exit(f"FAILED: expected {command} to end within {SECONDS} s, got\n{error.output}")
    results = re.findall(r"^result (\w+)$", run.stdout, re.MULTILINE)
    if run.returncode != 0 or len(results) != 1:
        sys.exit(f"FAILED: {command} ended with {run.returncode}\n{run.stdout}\n{run.stderr}")
    return results[0]


def expect_equal(results):
    print(results, flush=True)
    if len(set(results.values())) != 1:
        sys.exit("FAILED: expected equal results")


def train(program, mpirun, folder):
    """Two runs, which must have the same results and checkpoints. Returns the result."""
    files = [os.path.join(folder, name) for name in ("first", "second")]
    results = {file: result_of(mpirun, program, "training", file) for file in files}
    expect_equal(results)
    contents = [open(file, "rb").read() for file in files]
    if contents[0] != contents[1]:
        sys.exit("FAILED: expected equal checkpoints")
    return results[files[0]]


def check_ranks(program, ranks, folder):
    train(program, on_this_machine(ranks), folder)
    file = os.path.join(folder, "first")
    expect_equal({f"{n} ranks go on": result_of(on_this_machine(n), program, "resume", file)
                  for n in (1, 2, 4)})


def check_nodes(program, folder):
    here = result_of(on_this_machine(4), program, "training", os.path.join(folder, "here"))
    with TwoNodes() as nodes:
        there = train(program, nodes.mpirun(["HALFGRAD_NUM_THREADS", "HALFGRAD_TEST_TIMEOUT"]), folder)
        bytes_over_link = nodes.received_bytes()
    expect_equal({"this machine": here, "two nodes": there})
    if bytes_over_link < 100_000:
        sys.exit(f"FAILED: expected gradients on the link, got {bytes_over_link} bytes")
    print(f"{bytes_over_link} bytes came over the link to the first node")


def main():
    program, ranks = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="halfgrad_training_") as folder:
        if ranks == "nodes":
            check_nodes(program, folder)
        else:
            check_ranks(program, int(ranks), folder)


if __name__ == "__main__":
    main()
