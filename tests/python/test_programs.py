"""Programs written for PyTorch: with `torch` imported as halfgrad they give PyTorch's numbers.

The folder `programs` has the programs, PyTorch's numbers in expected.json, and record.py, which
wrote these.
"""

import json
import pathlib
import re
import sys
import types

import numpy as np
import pytest

FOLDER = pathlib.Path(__file__).parent / "programs"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())["values"]
# Largest relative differences. 2e-5 for the others: sums in another order, over some dozen steps.
TOLERANCE = {"bfloat16": 2e-2}


def program(name):
    """The module of a program, with `torch` replaced in its import statements."""
    source = (FOLDER / f"{name}.py").read_text()
    source = re.sub(r"^import torch$", "import halfgrad as torch", source, flags=re.M)
    source = re.sub(r"^(import|from) torch\b", r"\1 halfgrad", source, flags=re.M)
    module = types.ModuleType(f"halfgrad_program_{name}")
    sys.modules[module.__name__] = module  # pickles look classes up there
    exec(compile(source, str(FOLDER / f"{name}.py"), "exec"), module.__dict__)
    return module


@pytest.fixture(autouse=True)
def import_from_the_folder(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))


@pytest.mark.parametrize("seed", ["0", "1"])
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_program_gives_the_numbers_of_pytorch(name, seed):
    values = np.array(program(name).main(int(seed)), np.float64)
    expected = np.array(EXPECTED[name][seed], np.float64)
    assert values.shape == expected.shape
    tolerance = TOLERANCE.get(name, 2e-5)
    np.testing.assert_allclose(values, expected, rtol=tolerance, atol=tolerance * 0.1)


def test_every_program_has_expected_numbers():
    names = {path.stem for path in FOLDER.glob("*.py")} - {"arrays", "record"}
    assert names == set(EXPECTED)
