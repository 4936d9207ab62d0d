"""Hundreds of small expressions have the values, dtypes and shapes that PyTorch gives them.

expressions/record.py recorded the values.
"""

import json
import math
import pathlib
import sys

import pytest

import halfgrad as hg

sys.path.insert(0, str(pathlib.Path(__file__).parent / "expressions"))
from evaluate import FOLDER, evaluate, sources  # noqa: E402

EXPECTED = json.loads((FOLDER / "expected.json").read_text())
TOLERANCE = 2.0 ** -20  # 16 roundoffs of float32


def assert_same(found, expected, path=""):
    if isinstance(expected, float) and isinstance(found, (int, float)):
        assert math.isclose(found, expected, rel_tol=TOLERANCE, abs_tol=TOLERANCE), path
        return
    assert type(found) is type(expected), f"{path}: expected {expected}, got {found}"
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), path
        for key in expected:
            assert_same(found[key], expected[key], f"{path}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), f"{path}: expected {expected}, got {found}"
        for i, element in enumerate(expected):
            assert_same(found[i], element, f"{path}[{i}]")
    else:
        assert found == expected, f"{path}: expected {expected}, got {found}"


@pytest.mark.parametrize("page", ["tensors", "modules", "training", "composed", "printing"])
def test_expressions(page):
    lines = list(sources(page))
    assert len(lines) == len(EXPECTED[page]), "run expressions/record.py"
    failures = []
    for source, expected in zip(lines, EXPECTED[page]):
        try:
            assert_same(evaluate(source, hg), expected)
        except Exception as error:
            failures.append(f"{source}\n    {type(error).__name__}: {error}")
    assert not failures, f"{len(failures)} differ:\n" + "\n".join(failures)


def test_a_wrong_value_is_found():
    with pytest.raises(AssertionError):
        assert_same(evaluate("torch.ones(2)", hg), evaluate("torch.zeros(2)", hg))
    with pytest.raises(AssertionError, match="float64"):
        assert_same(evaluate("torch.ones(2)", hg), evaluate("torch.ones(2).double()", hg))
