"""The Python lines of docs/kernel_check.md run, its picture is current, and the examples give the results they state."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

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
    assert len(BLOCKS) == 4


def test_the_picture_is_current():
    run(ROOT / "docs/images/write_kernel_check_report.py", "--check")


@pytest.mark.skipif(not has_triton, reason="Triton is not installed")
def test_the_triton_example():
    printed = run(ROOT / "examples/python/kernels/triton_softmax.py", TRITON_INTERPRET="1")
    assert "smallest case m = 1, n = 1, k = 3" in printed


def test_the_numpy_example():
    printed = run(ROOT / "examples/python/kernels/numpy_softmax.py")
    assert re.search(r"softmax.*passed.*FAILED.*columns \d+ and above", printed, re.S), printed
