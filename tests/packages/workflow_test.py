#!/usr/bin/env python3
"""Checks .github/workflows/ci.yml against .ci/run: every job runs steps that exist, and all steps run
but those that need a CUDA Toolkit or a second system, and those whose tests tools/test has unless it samples.
    tests/packages/workflow_test.py
Exits with 77 without PyYAML."""

import pathlib
import re
import subprocess
import sys

try:
    import yaml
except ImportError:
    print("SKIPPED: no PyYAML")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
ELSEWHERE = re.compile("nvcc|CUDA|Debian 13's g\\+\\+|^tests of the (course|kernel checker)")


def expect(is_right, text):
    if not is_right:
        raise SystemExit(f"workflow_test: expected {text}")


def main():
    listed = subprocess.run([ROOT / ".ci/run", "--list"], check=True, capture_output=True, text=True)
    names = listed.stdout.splitlines()
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    expect(set(workflow) == {"name", True, "permissions", "concurrency", "jobs"}, "known keys")  # on: True
    expect(set(workflow[True]) == {"push", "pull_request"}, "two triggers")
    run = set()
    for name, job in workflow["jobs"].items():
        expect({"runs-on", "container", "steps", "strategy"} <= set(job), f"a whole job, got {name}")
        rows = job["strategy"]["matrix"].get("include", [{}])
        for step in job["steps"]:
            expect(("run" in step) != ("uses" in step), f"run or uses, got {step}")
            command = step.get("run", "")
            if not command.startswith(".ci/run "):
                continue
            for row in rows:
                pattern = re.fullmatch(r'.ci/run "(.+)"', command).group(1)
                pattern = pattern.replace("${{ matrix.steps }}", row.get("steps", ""))
                for part in pattern.split("|"):
                    matched = {step for step in names if re.search(part, step)}
                    expect(len(matched) == 1, f"one step of .ci/run for {part!r}, got {matched}")
                    run |= matched
    left = [step for step in names if step not in run and not ELSEWHERE.search(step)]
    expect(not left, f"every step in some job, got none for {left}")
    print(f"workflow_test: {len(run)} steps of {len(names)}")


if __name__ == "__main__":
    main()
