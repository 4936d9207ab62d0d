#!/usr/bin/env python3
"""Compiles and runs the programs in planted/ and right/ under the emulator.

A planted program must give a finding of the kind that its comment `// expect: KIND` names, at the
comment's line (of a race: at the line of either access; of a call: at the line of the caller).
`note-KIND` is a finding that is only a note.
A file with several programs has comments `// expect CASE: KIND`, and runs each with the case as its
argument. A comment alone on a line belongs to the line above. `// expect: wrong-result` is for bugs
that only late streams show: the program's own check fails with --streams lazy. A right program must
give no error. A file with a comment `// Gpu: h100` is compiled for that GPU and runs on it;
`// Devices: 2` gives a program two GPUs.

usage: planted.py RUNTIME_FOLDER [--work FOLDER] [--jobs N] [--only TEXT] [--part I/N]
A part is every N-th file, from the I-th on.
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
FLAGS = ["-std=c++17", "-cudart", "shared", "-lineinfo", "--no-compress", "-Xcompiler", "-g"]
CAPABILITIES = {"a100": "80", "h100": "90a"}
KIND = re.compile(r"// expect(?: (\w+))?: ([\w-]+)")


def gpu_of(source):
    """The GPU that a program needs."""
    named = re.search(r"// .*Gpu: (\w+)", source.read_text())
    return named[1] if named else "a100"


def compile_program(source, folder):
    """Returns the path of the program, or the compiler's errors as RuntimeError."""
    program = folder / f"{source.parent.name}_{source.stem}"
    if program.exists() and program.stat().st_mtime > source.stat().st_mtime:
        return program
    libraries = re.findall(r"// .*Links: (\w+)", source.read_text())
    architecture = f"compute_{CAPABILITIES[gpu_of(source)]}"
    command = [os.environ.get("NVCC", "nvcc"), *FLAGS, "-gencode",
               f"arch={architecture},code={architecture}", str(source), "-o", str(program),
               *(f"-l{library}" for library in libraries)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stdout + done.stderr)
    return program


def expected(source):
    """For each case, kinds and lines of the comments. The case of a single program is ""."""
    wanted, code_line = {}, 0
    for number, line in enumerate(source.read_text().splitlines(), 1):
        if not line.strip().startswith("// expect"):
            code_line = number
        for case, kind in KIND.findall(line):
            wanted.setdefault(case, set()).add((kind, code_line))
    return wanted


def devices(source):
    """Number of GPUs that a program needs."""
    named = re.search(r"// .*Devices: (\d+)", source.read_text())
    return int(named[1]) if named else 1


def run(program, runtime, case, **settings):
    """Returns the findings and the output of the program."""
    report = program.with_suffix(f".{case}.json")
    report.unlink(missing_ok=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": runtime,
                   "HALFGRAD_EMULATE": json.dumps({"report_json": str(report), **settings})}
    done = subprocess.run([str(program), *([case] if case else [])], env=environment,
                          capture_output=True, text=True, timeout=120, check=False)
    text = done.stdout + done.stderr
    found = json.loads(report.read_text()).get("findings", []) if report.exists() else None
    return found, text, done.returncode


def lines_of(finding, source, program):
    """Lines of the program's source that a finding names."""
    lines = {finding["line"]} if str(finding.get("file", "")).endswith(source.name) else set()
    named = re.escape(source.name) + r":(\d+)"
    for key in ("inlined_at", "other", "text"):
        lines |= {int(n) for n in re.findall(named, str(finding.get(key, "")))}
    sites = re.findall(re.escape(program.name) + r"\+(0x[0-9a-f]+)", str(finding.get("text", "")))
    if sites:
        found = subprocess.run(["addr2line", "-i", "-e", str(program), *sites],
                               capture_output=True, text=True, check=False).stdout
        lines |= {int(n) for n in re.findall(named, found)}
    return lines


def check_case(source, program, runtime, case, wanted):
    """Returns "" or what is wrong with one run."""
    try:
        late = any(kind == "wrong-result" for kind, _ in wanted)
        found, text, code = run(program, runtime, case, lazy_streams=late, gpu=gpu_of(source),
                                devices=devices(source))
    except subprocess.TimeoutExpired as error:
        return str(error)
    if late:
        return "" if code == 1 else f"expected exit code 1 with late streams, got {code}\n{text}"
    if found is None:
        return "no report was written\n" + text
    errors = [finding for finding in found if finding.get("severity", "error") == "error"]
    if source.parent.name == "right":
        return "" if not errors else "false alarm\n" + text
    hits = {(("" if finding in errors else "note-") + finding["kind"], line) for finding in found
            for line in lines_of(finding, source, program)}
    if wanted & hits:
        return ""
    return f"expected one of {sorted(wanted)}, found {sorted(hits)}\n{text}"


def check(source, folder, runtime):
    """Returns what is wrong with each run of a program, "" if nothing is."""
    cases = expected(source) if source.parent.name == "planted" else {"": set()}
    try:
        program = compile_program(source, folder)
    except RuntimeError as error:
        return {case: str(error) for case in cases}
    return {case: check_case(source, program, runtime, case, wanted)
            for case, wanted in cases.items()}


def part(text):
    match = re.fullmatch(r"(\d+)/([1-9]\d*)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"expected I/N with I of 1 to N, got {text}")
    return slice(int(match[1]) - 1, None, int(match[2]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runtime")
    parser.add_argument("--work", default="/tmp/planted", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--part", type=part, default="1/1")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    sources = [source for name in ("planted", "right") for source in sorted((HERE / name).glob("*.cu"))
               if options.only in str(source)][options.part]
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda source: check(source, options.work, options.runtime), sources))
    runs = [(f"{source.parent.name}/{source.name} {case}".strip(), wrong)
            for source, result in zip(sources, results) for case, wrong in result.items()]
    wrong = [run for run in runs if run[1]]
    for name, result in wrong:
        print(f"{name}: {result}")
    print(f"{len(runs) - len(wrong)} of {len(runs)} programs are as expected")
    return 1 if wrong or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
