"""Runs the programs with PyTorch and writes what they return to expected.json.

    python tests/python/programs/record.py
"""

import importlib
import json
import pathlib
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
NOT_PROGRAMS = {"arrays", "record"}
SEEDS = (0, 1)


def main():
    sys.path.insert(0, str(HERE))
    values = {}
    for path in sorted(HERE.glob("*.py")):
        if path.stem in NOT_PROGRAMS:
            continue
        program = importlib.import_module(path.stem)
        values[path.stem] = {str(seed): program.main(seed) for seed in SEEDS}
    text = json.dumps({"torch": torch.__version__, "values": values})
    (HERE / "expected.json").write_text(text.replace("], ", "],\n") + "\n")


if __name__ == "__main__":
    main()
