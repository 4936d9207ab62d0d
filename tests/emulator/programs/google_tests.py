#!/usr/bin/env python3
"""Stands for a program of GoogleTest under halfgrad-emulate, without CUDA.

It lists four tests, runs those of --gtest_filter, and leaves the report that the emulator's runtime would
leave: each test executes some lines of a kernel. Settings::mutant changes one of them, and the test that
notices fails. Every run is a line of the file CALLS: the mutant, then the tests.
"""

import json
import os
import pathlib
import sys

# Test: its lines, and those whose mutant it notices.
TESTS = {
    "Sum.Rows": (["bound:/src/sum.cu:3", "store:/src/sum.cu:4"], ["bound:/src/sum.cu:3"]),
    "Sum.Columns": (["store:/src/sum.cu:4", "sign:/src/sum.cu:5"], ["store:/src/sum.cu:4"]),
    "Sum.NeedsOthers": (["extremum:/src/sum.cu:6"], ["extremum:/src/sum.cu:6"]),
    "Sum.DISABLED_Never": ([], []),
}


def argument(name):
    return next((a.split("=", 1)[1] for a in sys.argv[1:] if a.startswith(f"--gtest_{name}=")), "")


def main():
    if "--gtest_list_tests" in sys.argv:
        tests = [dict(name=name.split(".")[1]) for name in TESTS]
        suites = [dict(name="Sum", testsuite=tests)] if "--none" not in sys.argv else []
        pathlib.Path(argument("output").removeprefix("json:")).write_text(
            json.dumps(dict(tests=len(tests), testsuites=suites)))
        return 0
    settings = json.loads(os.environ["HALFGRAD_EMULATE"])
    mutant = settings.get("mutant", "")
    chosen = argument("filter").split(":") if argument("filter") else list(TESTS)
    with open(os.environ["CALLS"], "a") as calls:
        calls.write(f"{mutant or 'unchanged'} {' '.join(chosen)}\n")
    lines = sorted({line for name in chosen for line in TESTS[name][0]})
    kernel = dict(name="sum", mutants=lines)
    pathlib.Path(settings["report_json"]).write_text(json.dumps(dict(kernels=[kernel], findings=[])))
    if chosen == ["Sum.NeedsOthers"]:
        return 1  # it uses what an earlier test left
    return int(any(mutant in TESTS[name][1] for name in chosen))


sys.exit(main())
