"""Checks two softmax kernels in Triton: a right one, and one whose padding is 0 in place of -inf.

    python examples/python/kernels/triton_softmax.py                      # on a GPU, with PyTorch
    TRITON_INTERPRET=1 python examples/python/kernels/triton_softmax.py   # on the CPU, without either
"""

import os
import sys

import halfgrad
import triton
import triton.language as tl

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"


@triton.jit
def softmax_kernel(x, y, columns, PADDING: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    value = tl.load(x + row * columns + column, mask=inside, other=PADDING).to(tl.float32)
    exponential = tl.exp(value - tl.max(value, axis=0))
    result = exponential / tl.sum(exponential, axis=0)
    tl.store(y + row * columns + column, result.to(y.dtype.element_ty), mask=inside)


def softmax_with(padding):
    def softmax(x, out):
        rows, columns = x.shape
        if rows * columns > 0:
            block = triton.next_power_of_2(columns)
            softmax_kernel[(rows,)](x, out, columns, PADDING=padding, BLOCK=block)

    return softmax


if __name__ == "__main__":
    options = {"dtype": "float16", "out": True, "dims": [(3, 1, 8), (3, 1, 37), (2, 1, 130), (0, 1, 5)]}
    options |= {"like": "triton"} if INTERPRETED else {"like": "torch", "device": "cuda"}
    good = halfgrad.check(softmax_with(float("-inf")), "softmax", **options)
    bad = halfgrad.check(softmax_with(0.0), "softmax", **options)
    print(good, bad, sep="\n\n")
    sys.exit(not good.passed or bad.passed)
