"""Writes expected.json, the values of all expressions in PyTorch:

    pip install torch==2.15 numpy && python tests/python/expressions/record.py
"""

import json
import warnings

import torch
from evaluate import FOLDER, evaluate, sources

warnings.simplefilter("ignore")
expected = {"torch": torch.__version__.split("+")[0]}
for page in ("tensors", "modules", "training", "composed", "printing"):
    expected[page] = [evaluate(source, torch) for source in sources(page)]
lines = [f'"{page}": [\n' + ",\n".join(json.dumps(value) for value in values) + "\n]"
         if isinstance(values, list) else f'"{page}": {json.dumps(values)}'
         for page, values in expected.items()]
(FOLDER / "expected.json").write_text("{" + ",\n".join(lines) + "}\n")
