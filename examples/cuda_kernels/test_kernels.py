"""Tests the CUDA kernels of softmax.cu on a machine without a GPU.

    HALFGRAD_CHECK=build/cpu/bin/halfgrad-check HALFGRAD_INCLUDE=build/cpu/include pytest examples/cuda_kernels

An installed halfgrad needs neither variable. nvcc compiles the kernels to PTX; halfgrad-check runs them
under the emulator, and compares every result with its error budget.
"""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).with_name("softmax.cu")
CHECK = os.environ.get("HALFGRAD_CHECK", "halfgrad-check")
INCLUDE = os.environ.get("HALFGRAD_INCLUDE", "/usr/local/include")
NVCC = os.environ.get("NVCC", "nvcc")


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    if shutil.which(NVCC) is None:
        pytest.skip("nvcc is not installed")
    library = tmp_path_factory.mktemp("kernels") / "softmax.so"
    subprocess.run(
        [NVCC, "-shared", "-Xcompiler", "-fPIC", "-cudart", "shared", "-lineinfo", "-std=c++17",
         "-gencode", "arch=compute_80,code=compute_80", "-I", INCLUDE, str(SOURCE), "-o", str(library)],
        check=True,
    )
    return library


def check(library, symbol, *options):
    """Returns the report of halfgrad-check --emulate: its own result, and what the emulator saw."""
    command = [CHECK, "softmax", "--library", str(library), "--symbol", symbol, "--emulate",
               "--json", "-", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr  # 2: it could not be checked
    return json.loads(done.stdout)


def findings(report):
    """Returns the kinds of the emulator's errors and the text of their source lines."""
    lines = SOURCE.read_text().splitlines()
    return {(finding["kind"], lines[finding["line"] - 1].strip())
            for finding in report["emulator"]["findings"] if finding["severity"] == "error"}


def test_softmax_is_right(library):
    report = check(library, "softmax_good", "--in-place")
    assert report["passed"], report["findings"] + report["emulator"]["findings"]


def test_one_buffer_for_two_reductions_is_a_race(library):
    report = check(library, "softmax_race")
    assert not report["passed"]
    assert ("race", "if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;") in findings(report)


def test_whole_tiles_read_beyond_the_matrix(library):
    report = check(library, "softmax_stray_read")
    assert findings(report) == {("out-of-bounds", "tile[threadIdx.x] = x[first + threadIdx.x];")}


@pytest.mark.parametrize("symbol, coalesced", [("softmax_good", True), ("softmax_uncoalesced", False)])
def test_coalescing(library, symbol, coalesced):
    report = check(library, symbol, "--dims", "200", "1", "48")
    assert (report["emulator"]["uncoalesced"] == []) == coalesced
