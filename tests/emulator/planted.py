#!/usr/bin/env python3
"""Compiles and runs the programs in planted/ and right/ under the emulator.

A planted program must give a finding of the kind that its comment `// expect: KIND` names, at the
comment's line (of a race: at the line of either access). A right program must give no error.

usage: planted.py RUNTIME_FOLDER [--work FOLDER] [--jobs N] [--only TEXT]
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
FLAGS = ["-std=c++17", "-cudart", "shared", "-gencode", "arch=compute_80,code=compute_80",
         "-lineinfo", "--no-compress"]


def compile_program(source, folder):
    """Returns the path of the program, or the compiler's errors as RuntimeError."""
    program = folder / f"{source.parent.name}_{source.stem}"
    if program.exists() and program.stat().st_mtime > source.stat().st_mtime:
        return program
    command = [os.environ.get("NVCC", "nvcc"), *FLAGS, str(source), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stdout + done.stderr)
    return program


def expected(source):
    """Kinds and lines of the comments."""
    lines = source.read_text().splitlines()
    return {(match[1], number) for number, line in enumerate(lines, 1)
            if (match := re.search(r"// expect: ([\w-]+)", line))}


def run(program, runtime):
    """Returns the findings and the output of the program."""
    report = program.with_suffix(".json")
    report.unlink(missing_ok=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": runtime,
                   "HALFGRAD_EMULATE": json.dumps({"report_json": str(report)})}
    done = subprocess.run([str(program)], env=environment, capture_output=True, text=True,
                          timeout=120, check=False)
    text = done.stdout + done.stderr
    found = json.loads(report.read_text()).get("findings", []) if report.exists() else None
    return found, text


def lines_of(finding, name):
    """Lines of the program's source that a finding names."""
    lines = {finding["line"]} if str(finding.get("file", "")).endswith(name) else set()
    for key in ("inlined_at", "other", "text"):
        lines |= {int(n) for n in re.findall(re.escape(name) + r":(\d+)", str(finding.get(key, "")))}
    return lines


def check(source, folder, runtime):
    """Returns "" or what is wrong."""
    try:
        found, text = run(compile_program(source, folder), runtime)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return str(error)
    if found is None:
        return "no report was written\n" + text
    errors = [finding for finding in found if finding.get("severity", "error") == "error"]
    if source.parent.name == "right":
        return "" if not errors else "false alarm\n" + text
    wanted = expected(source)
    hits = {(finding["kind"], line) for finding in errors
            for line in lines_of(finding, source.name)}
    if wanted & hits:
        return ""
    return f"expected one of {sorted(wanted)}, found {sorted(hits)}\n{text}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runtime")
    parser.add_argument("--work", default="/tmp/planted", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    sources = [source for name in ("planted", "right") for source in sorted((HERE / name).glob("*.cu"))
               if options.only in str(source)]
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda source: check(source, options.work, options.runtime), sources))
    wrong = [(source, result) for source, result in zip(sources, results) if result]
    for source, result in wrong:
        print(f"{source.parent.name}/{source.name}: {result}")
    print(f"{len(sources) - len(wrong)} of {len(sources)} programs are as expected")
    return 1 if wrong or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
