"""Gradients of every op with fp16 inputs, without autocast: op_gradients.json. PyTorch 2.15.0, CPU.

    python op_gradients.py

The ops are those of autocast_dtypes.py, on 4 x 4 operands: once with numbers in (0, 1), once in
(-2, 2), where the op is defined there. All are odd multiples of 1/128, in f16 exact, no two of them
equal, so that no maximum is a tie and no argument lies on a corner of its function. Per row: the
operands, the cotangent, and a gradient for each operand, null for one that gets none.
"""

import warnings

import torch

import expected
from autocast_dtypes import BINARY, TERNARY, UNARY

RANDOM = ["dropout"]  # draws other numbers
RANGES = {"positive": (0, 128), "signed": (-256, 256)}
SEED = 1


def draw(random, low, high, residue):
    """16 different numbers k / 128 with k = residue mod 8: no two operands share one."""
    choices = torch.arange(low, high)
    choices = choices[choices % 8 == residue]
    values = choices[torch.randperm(len(choices), generator=random)[:16]] / 128
    return values.reshape(4, 4).half().requires_grad_()


def gradients(op, operands, random):
    """The cotangent and the gradients; none where the op has none or is not defined here."""
    try:
        result = op(*operands)
    except RuntimeError:
        return None
    if not result.requires_grad:
        return None
    cotangent = torch.randint(-64, 64, result.shape, generator=random) / 64
    cotangent = cotangent.to(result.dtype)
    found = torch.autograd.grad(result, operands, cotangent, allow_unused=True)
    if not all(g is None or g.isfinite().all() for g in (result, *found)):
        return None
    return cotangent, found


def main():
    warnings.simplefilter("ignore")
    random = torch.Generator().manual_seed(SEED)
    rows = []
    for count, ops in ((1, UNARY), (2, BINARY), (3, TERNARY)):
        for name, op in ops.items():
            for kind, bounds in RANGES.items():
                operands = [draw(random, *bounds, 2 * i + 1) for i in range(count)]
                found = None if name in RANDOM else gradients(op, operands, random)
                if found is None:
                    continue
                rows.append(
                    dict(
                        op=name,
                        range=kind,
                        operands=[expected.numbers(x.detach().flatten()) for x in operands],
                        cotangent=expected.numbers(found[0].flatten()),
                        gradients=[g if g is None else expected.numbers(g.flatten()) for g in found[1]],
                    )
                )
    expected.write("op_gradients.json", rows=rows)


if __name__ == "__main__":
    main()
