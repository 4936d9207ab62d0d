"""The Python lines of docs/kernel_check.md run, its picture is current, and the examples give the results they state."""

import importlib.util
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest

import halfgrad

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/kernel_check.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(import halfgrad.*?)```", PAGE, re.S)
has_triton = importlib.util.find_spec("triton") is not None


def run(*command, **environment):
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True,
                          env={**os.environ, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(not has_triton, reason="Triton is not installed")
def test_from_a_triton_kernel_to_the_result(tmp_path):
    program = tmp_path / "kernel.py"  # Triton reads the source of a kernel
    program.write_text(BLOCKS[0])
    assert BLOCKS[0].count("\n") == 10
    printed = run(program, TRITON_INTERPRET="1").splitlines()
    stated = re.search(r"```\n(softmax, float32.*?)```", PAGE, re.S)[1].splitlines()
    numbers = re.compile(r"[-+.e\d]*\d")  # values differ in their last digits between machines
    assert [numbers.sub("", line) for line in printed[:3]] == [numbers.sub("", line) for line in stated]


@pytest.mark.parametrize("block", BLOCKS[1:])
def test_the_other_lines_run(block, tmp_path):
    program = tmp_path / "lines.py"
    program.write_text(block)
    run(program)


def test_the_page_has_these_blocks():
    assert len(BLOCKS) == 6


def test_the_picture_is_current():
    run(ROOT / "docs/images/write_kernel_check_report.py", "--check")


@pytest.mark.skipif(not has_triton, reason="Triton is not installed")
def test_the_triton_example():
    printed = run(ROOT / "examples/python/kernels/triton_softmax.py", TRITON_INTERPRET="1")
    assert "smallest case m = 1, n = 1, k = 3" in printed


def test_the_numpy_example():
    printed = run(ROOT / "examples/python/kernels/numpy_softmax.py")
    assert re.search(r"softmax.*passed.*FAILED.*columns \d+ and above", printed, re.S), printed


def test_the_members_of_the_json_report_are_those_of_the_page():
    table = PAGE.split("## The JSON report")[1].split("\n\n")[2]
    rows = [row.split("|")[1:3] for row in table.splitlines()[2:]]
    documented = {name for names, _ in rows for name in re.findall(r"`([a-z_]+)`", names)}

    def forgets_the_tail(x):
        y = np.maximum(x, 0)
        y[:, 32:] = 77
        return y

    report = halfgrad.check(forgets_the_tail, "relu").report
    inner = {"places", "places.counts", "places.map"}
    assert documented - inner - set(report) == set()
    assert set(report) - documented == set(), "members that the page lacks"
    finding = report["findings"][0]
    words = {name: set(re.findall(r"`([a-z_]+)`", text)) for names, text in rows
             for name in re.findall(r"`([a-z_.]+)`", names)}
    assert set(finding) <= words["findings"]
    assert set(finding["places"]) <= words["places"]
    assert set(finding["places"]["counts"]) <= words["places.counts"]
    assert set(finding["places"]["map"]) <= words["places.map"]
    assert set(report["worst"]) <= words["worst"]
    assert set(report["smallest_case"]) <= words["smallest_case"]


EMULATE = os.environ.get("HALFGRAD_EMULATE") or shutil.which("halfgrad-emulate")


@pytest.mark.skipif(not (EMULATE and shutil.which("nvcc")), reason="needs nvcc and halfgrad-emulate")
def test_the_cuda_example_under_the_emulator(tmp_path):
    folder, library = ROOT / "examples/python/kernels", tmp_path / "cuda_softmax.so"
    subprocess.run(["nvcc", "-std=c++17", "-shared", "-Xcompiler", "-fPIC", "-cudart", "shared", "-lineinfo",
                    "-gencode", "arch=compute_80,code=compute_80", folder / "cuda_softmax.cu", "-o", library],
                   check=True)
    done = subprocess.run([EMULATE, sys.executable, folder / "cuda_softmax.py", library],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout and "columns 256 and above" in done.stdout
    assert "0 errors" in done.stdout + done.stderr


def test_the_action_has_the_lines_of_the_page():
    action = (ROOT / "examples/ci/kernel-check.yml").read_text(encoding="utf-8")
    lines = re.findall(r"^ +(- run: .*)$", action, re.M)
    stated = re.findall(r"```yaml\n(- run: .*?)```", PAGE, re.S)
    assert [block.splitlines() for block in stated] == [lines] and len(lines) == 2
    assert "\t" not in action
    kernels = re.search(r"pytest (\S+)", lines[1])[1]
    assert kernels in action.splitlines()[1], "the head of the file names the tests that it runs"


def test_the_steps_of_the_action_run(tmp_path):
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    action = yaml.safe_load((ROOT / "examples/ci/kernel-check.yml").read_text(encoding="utf-8"))
    steps = action["jobs"]["check"]["steps"]
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"]) for step in steps if "uses" in step)
    install, check = [step for step in steps if "run" in step]
    command = shlex.split(install["run"])
    assert command[:3] == ["pip", "install", "./halfgrad"]  # tools/test-python builds what this names
    assert {"pytest"} <= set(command[3:]) <= {"pytest", "triton"}

    command = shlex.split(check["run"])
    kernels = tmp_path / next(word for word in command if word.endswith(".py"))
    kernels.parent.mkdir(parents=True)
    kernels.write_text(next(block for block in BLOCKS if "kernel_test" in block))
    done = subprocess.run([sys.executable, "-m", *command], cwd=tmp_path, env={**os.environ, **check["env"]},
                          capture_output=True, text=True)
    assert command[0] == "pytest" and done.returncode == 0, done.stdout + done.stderr
    uploaded = [step["with"]["path"] for step in steps if "upload-artifact" in step.get("uses", "")]
    assert len(uploaded) == 1 and "my_relu[float16]" in (tmp_path / uploaded[0]).read_text()
