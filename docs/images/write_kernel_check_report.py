"""Writes the picture of a report in docs/kernel_check.md, or with --check compares it.

    python docs/images/write_kernel_check_report.py [--check]

The kernel is exact arithmetic in a fixed order, so that the picture is the same on every machine.
"""

import pathlib
import sys

import halfgrad
import numpy as np

PICTURE = pathlib.Path(__file__).with_name("kernel_check_report.svg")


def cumsum(x):
    """Cumulative sums of rows in tiles of 16 columns; tiles from the third on lose their carry."""
    y = x.copy()
    for column in range(1, x.shape[1]):
        if column < 32 or column % 16 != 0:
            y[:, column] += y[:, column - 1]
    return y


def main():
    checked = halfgrad.check(cumsum, "cumsum", dims=[(12, 1, 53)], without=["specials"])
    picture = checked._repr_html_()
    if sys.argv[1:] != ["--check"]:
        PICTURE.write_text(picture, encoding="utf-8")
    elif PICTURE.read_text(encoding="utf-8") != picture:
        sys.exit(f"{PICTURE}: expected the picture that this script writes, got another one")


if __name__ == "__main__":
    main()
