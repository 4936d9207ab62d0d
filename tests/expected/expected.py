"""Reads and writes the files of expected values; the scripts of this folder share it.

A file holds one JSON object, with one line per key and per row of a list of objects. Numbers have
the digits that read back the same bits: 9 for float32, repr for float64. JSON has no NaN and no
infinities, so they are the strings "nan", "inf" and "-inf".
"""

import json
import math
import pathlib

import torch

FOLDER = pathlib.Path(__file__).parent


def numbers(values):
    """Converts a tensor, a list or a number for JSON; rounds float32 tensors to 9 digits."""
    if isinstance(values, torch.Tensor):
        single = values.dtype in (torch.float32, torch.float16, torch.bfloat16)
        return numbers(_nine_digits(values.tolist()) if single else values.tolist())
    if isinstance(values, (list, tuple)):
        return [numbers(value) for value in values]
    if isinstance(values, float) and not math.isfinite(values):
        return str(values)
    return values


def _nine_digits(values):
    if isinstance(values, list):
        return [_nine_digits(value) for value in values]
    return float(f"{values:.9g}")


def write(name, **content):
    """Writes FOLDER/name: the PyTorch version, then `content`."""
    lines = [f'"torch": {json.dumps(torch.__version__)}']
    for key, value in content.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            rows = ",\n  ".join(json.dumps(row, allow_nan=False) for row in value)
            lines.append(f"{json.dumps(key)}: [\n  {rows}\n]")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value, allow_nan=False)}")
    (FOLDER / name).write_text("{\n" + ",\n".join(lines) + "\n}\n")


def read(name):
    return json.loads((FOLDER / name).read_text())
