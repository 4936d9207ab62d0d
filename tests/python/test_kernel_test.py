"""The pytest plugin: kernels with @halfgrad.kernel_test are tests."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("halfgrad.checking.pytest_plugin")

KERNELS = """
import halfgrad
import numpy as np

@halfgrad.kernel_test("relu", dtype=["float32", "fp16"])
def my_relu(x):
    return np.maximum(x, 0)

@halfgrad.kernel_test("relu", dims=[(3, 37, 1)], stop_at_first=True)
def half_a_relu(x):
    y = np.maximum(x, 0)
    y[:, 16:] = 77
    return y

def test_the_kernel_can_still_be_called():
    assert my_relu(np.float32(-1)) == 0
    assert my_relu.check("float64").passed
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "test_kernels.py").write_text(KERNELS)

    def run_pytest(*arguments):
        installed = "halfgrad" in {point.name for point in _entry_points()}
        plugin = [] if installed else ["-p", "halfgrad.checking.pytest_plugin"]
        return subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                               *plugin, *arguments], cwd=tmp_path, capture_output=True, text=True,
                              env={**os.environ, "PYTEST_ADDOPTS": ""})

    return run_pytest


def _entry_points():
    from importlib.metadata import entry_points
    return entry_points(group="pytest11")


def test_kernels_are_tests_for_each_dtype(run, tmp_path):
    result = run("-vv", "--junitxml", str(tmp_path / "junit.xml"))
    assert result.returncode == 1
    for line in ("my_relu[float32] PASSED", "my_relu[float16] PASSED", "half_a_relu[float32] FAILED"):
        assert line in result.stdout, result.stdout
    assert "columns 16 and above" in result.stdout
    assert "3 passed" in result.stdout and "1 failed" in result.stdout
    junit = (tmp_path / "junit.xml").read_text()
    assert 'failures="1"' in junit and "columns 16 and above" in junit


def test_kernels_are_selected_by_name_and_take_a_seed(run):
    result = run("-k", "my_relu", "--kernel-seed", "7")
    assert result.returncode == 0 and "2 passed" in result.stdout, result.stdout
