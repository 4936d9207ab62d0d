"""The code of docs/python.md and README.md runs, and the example in Python too."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["docs/python.md", "docs/inspector.md", "README.md"])
def test_blocks_of_python_run(page):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    if page == "docs/python.md":
        assert names["loss"].item() < 0.1
        assert names["array"][0, 0] == 5 and names["back"][0, 0] == 10
    if page == "docs/inspector.md":
        assert names["ledger"].measured == 2 and names["ops"].records


def test_the_quick_start_is_short():
    block = re.search(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.DOTALL)
    assert len(block[1].splitlines()) <= 11


def test_example():
    result = subprocess.run([sys.executable, ROOT / "examples/python/digits_fp16.py", "--steps=11"],
                            capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert "loss 2." in result.stdout and "accuracy on 1000 other digits:" in result.stdout


def test_stubs_pass_mypy():
    pytest.importorskip("mypy")

    result = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir=/dev/null", "-p", "halfgrad"],
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
