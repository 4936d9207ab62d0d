#!/usr/bin/env python3
"""Breaks trainings over MPI at random moments, and expects every other rank to end soon with an error
that names the broken one.

    faults.py FAULT PROGRAM [--moments N] [--seed S]

FAULT is one of
    kill      SIGKILL of a rank; mpirun ends the others
    survive   SIGKILL of a rank; mpirun leaves the others alone, so they must find out
    stop      SIGSTOP of a rank
    link      the network link between two nodes is cut; the nodes are network namespaces
    throw     rank 1 throws an exception
    early     rank 1 returns from main() although the others go on
    mismatch  rank 1 calls another collective than the others

The number of moments is HALFGRAD_FAULT_MOMENTS of the environment, or 2. Needs Open MPI's mpirun, and for
`link` iproute2 and root. Ends with 77, and the reason, where one is missing.
"""

import argparse
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from two_nodes import TwoNodes, send_signal, skip

TIMEOUT = 2.0  # seconds, for each collective
MARGIN = 15.0  # for the start and the end of processes on a busy machine


def environment(log):
    return os.environ | {
        "HALFGRAD_TEST_TIMEOUT": str(int(TIMEOUT * 1000)),
        "HALFGRAD_TEST_LOG": log,
        "HALFGRAD_NUM_THREADS": "1",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # its name in Open MPI 5
    }


class Job:
    """A training of several ranks, started by mpirun."""

    def __init__(self, program, ranks, options=(), mpirun=None, mode="train"):
        self.ranks = ranks
        self.log = tempfile.mkdtemp(prefix="halfgrad_faults_")
        self.output_path = os.path.join(self.log, "output")
        with open(self.output_path, "w", encoding="utf-8") as output:
            self.mpirun = subprocess.Popen(
                [*(mpirun or ["mpirun", *options, "-n", str(ranks)]), program, mode, "60"],
                stdout=output, stderr=subprocess.STDOUT, env=environment(self.log))
        self.pids = self.wait_for_start()

    def output(self):
        with open(self.output_path, encoding="utf-8", errors="replace") as output:
            return output.read()

    def wait_for_start(self):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            found = re.findall(r"rank (\d+) \(.*, pid (\d+)\) of \d+ starts", self.output())
            if len(found) == self.ranks:
                return {int(rank): int(pid) for rank, pid in found}
            time.sleep(0.01)
        self.end()
        sys.exit(f"expected {self.ranks} ranks to start, got\n{self.output()}")

    def is_alive(self, rank):
        try:
            with open(f"/proc/{self.pids[rank]}/stat", encoding="utf-8") as stat:
                return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
        except (FileNotFoundError, ProcessLookupError):  # it ended before or after open()
            return False

    def seconds_until_end_of(self, ranks, limit):
        """Waits for the ends of these ranks; None if they take longer than the limit."""
        start = time.monotonic()
        while any(self.is_alive(rank) for rank in ranks):
            if time.monotonic() - start > limit:
                return None
            time.sleep(0.01)
        return time.monotonic() - start

    def error_of(self, rank):
        for path in glob.glob(os.path.join(self.log, f"error_{rank}")):
            with open(path, encoding="utf-8") as error:
                return error.read()
        return ""

    def end(self):
        for rank in range(self.ranks if hasattr(self, "pids") else 0):
            if self.is_alive(rank):
                send_signal(self.pids[rank], signal.SIGKILL)
        try:
            self.mpirun.wait(5)
        except subprocess.TimeoutExpired:
            self.mpirun.kill()
            self.mpirun.wait()


def expect(condition, text, job):
    if condition:
        return
    errors = "\n".join(f"error of rank {r}: {job.error_of(r)}" for r in range(job.ranks))
    job.end()
    sys.exit(f"FAILED: expected {text}, got\n{job.output()}\n{errors}")


def expect_errors(job, ranks, broken):
    """Each of the ranks has ended in time, with an error that names a broken one."""
    seconds = job.seconds_until_end_of(ranks, TIMEOUT + MARGIN)
    expect(seconds is not None, f"ranks {ranks} to end", job)
    named = [rank for rank in ranks if any(f"rank {b} (" in job.error_of(rank) for b in broken)]
    # mpirun ends the remaining ranks when the first one has ended with an error.
    expect(named, f"an error that names one of {broken}", job)
    return seconds, named


def kill(program, moment, rank):
    job = Job(program, 3)
    time.sleep(moment)
    os.kill(job.pids[rank], signal.SIGKILL)
    others = [r for r in range(3) if r != rank]
    seconds = job.seconds_until_end_of(others, TIMEOUT + MARGIN)
    expect(seconds is not None, f"ranks {others} to end", job)
    status = job.mpirun.wait(MARGIN)
    expect(status != 0, "an exit status that is not 0", job)
    expect(f"rank {rank} " in job.output(), f"a message that names rank {rank}", job)
    return job, f"all ended by mpirun after {seconds:.1f} s"


def survive(program, moment, rank):
    job = Job(program, 3, ["--enable-recovery"])
    time.sleep(moment)
    os.kill(job.pids[rank], signal.SIGKILL)
    others = [r for r in range(3) if r != rank]
    seconds, named = expect_errors(job, others, [rank])
    expect(named == others, f"errors of ranks {others} that name rank {rank}", job)
    return job, f"ranks {named} named it, and ended after {seconds:.1f} s"


def stop(program, moment, rank):
    job = Job(program, 3)
    time.sleep(moment)
    os.kill(job.pids[rank], signal.SIGSTOP)
    seconds, named = expect_errors(job, [r for r in range(3) if r != rank], [rank])
    status = job.mpirun.wait(MARGIN)
    expect(status != 0, "an exit status that is not 0", job)
    return job, f"ranks {named} named it, and ended after {seconds:.1f} s"


def link(program, moment, _):
    with TwoNodes() as nodes:
        job = Job(program, 4, mpirun=nodes.mpirun(["HALFGRAD_TEST_TIMEOUT", "HALFGRAD_TEST_LOG"]))
        time.sleep(moment)
        nodes.cut()
        seconds, _ = expect_errors(job, [0, 1], [2, 3])
        far_seconds, _ = expect_errors(job, [2, 3], [0, 1])
        job.end()
    return job, f"both nodes named the other, and ended after {seconds + far_seconds:.1f} s"


def by_itself(mode, text):
    """The test of a mode in which rank 1 breaks the training by itself."""

    def fault(program, _moment, _rank):
        job = Job(program, 3, mode=mode)
        seconds = job.seconds_until_end_of(range(3), MARGIN)
        expect(seconds is not None, "all ranks to end", job)
        status = job.mpirun.wait(MARGIN)
        expect(status != 0, "an exit status that is not 0", job)
        expect(text in job.output(), f"'{text}' among the errors", job)
        return job, f"all ended after {seconds:.1f} s"

    return fault


def main():
    faults = {"kill": kill, "survive": survive, "stop": stop, "link": link,
              "throw": by_itself("throw", "rank 1 throws"),
              "early": by_itself("early", ") has left: its program has destroyed"),
              "mismatch": by_itself("mismatch", "expected the same call on every rank, got ")}
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fault", choices=faults)
    parser.add_argument("program")
    parser.add_argument("--moments", type=int, default=int(os.environ.get("HALFGRAD_FAULT_MOMENTS", 2)))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True)
    if "Open MPI" not in version.stdout:
        skip("mpirun is not Open MPI's")
    chance = random.Random(options.seed)
    for i in range(options.moments):
        moment, rank = chance.uniform(0, 1), chance.randrange(3)
        job, result = faults[options.fault](options.program, moment, rank)
        job.end()
        shutil.rmtree(job.log)
        print(f"{options.fault} {i + 1}: rank {rank} at {moment:.3f} s: {result}", flush=True)


if __name__ == "__main__":
    main()
