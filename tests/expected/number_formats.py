"""Writes number_formats.json: conversions by ml_dtypes (pip install ml_dtypes).

Inputs are float32 bit patterns: neighbours of every fp8 value and midpoint, and random ones.
"""

import json
import pathlib

import ml_dtypes
import numpy as np

FORMATS = {
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
}


def inputs():
    patterns = [0, 0x80000000, 0x7F800000, 0xFF800000, 0x7F7FFFFF, 1]
    for dtype in (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
        numbers = np.arange(128, dtype=np.uint8).view(dtype).astype(np.float32)
        numbers = numbers[np.isfinite(numbers)]
        centres = np.concatenate([numbers[1::5], ((numbers[1:] + numbers[:-1]) / 2)[::3]])
        around = centres.view(np.uint32)[:, None] + np.array([-1, 0, 1], np.int64)
        patterns += around.flatten().tolist()
    random = np.random.default_rng(0)
    exponents = random.integers(127 - 30, 127 + 20, 300)
    patterns += (exponents << 23 | random.integers(0, 1 << 23, 300)).tolist()
    patterns += random.integers(0, 0x7F800000, 100).tolist()
    return np.array(patterns, np.uint32)


def main():
    floats = inputs()
    numbers = floats.view(np.float32)
    lines = [f'"ml_dtypes": {json.dumps(ml_dtypes.__version__)}', f'"float32": {floats.tolist()}']
    with np.errstate(over="ignore"):
        for name, dtype in FORMATS.items():
            stored = numbers.astype(dtype)
            bits = stored.view(np.uint8 if stored.itemsize == 1 else np.uint16)
            lines.append(f"{json.dumps(name)}: {bits.tolist()}")
    for name in ("float8_e4m3fn", "float8_e5m2"):
        decoded = np.arange(256, dtype=np.uint8).view(FORMATS[name]).astype(np.float32)
        lines.append(f"{json.dumps(name + ' decoded')}: {decoded.view(np.uint32).tolist()}")
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
