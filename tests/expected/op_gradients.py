"""Writes op_gradients.json: gradients of every op with fp16 inputs, without autocast. PyTorch 2.15.0,
CPU.

    python op_gradients.py

Uses the ops of autocast_dtypes.py on 4 x 4 operands: once with elements in (0, 1), and once in (-2, 2)
if the op is defined there. The elements are distinct odd multiples of 1/128, which are exact in f16: a
maximum has no ties, and no argument is at a kink of its function. Each row has the operands, the
cotangent, and a gradient for each operand, null if it gets none.
"""

import warnings

import torch

import expected
from autocast_dtypes import BINARY, TERNARY, UNARY

RANDOM = ["dropout"]  # its random numbers differ from halfgrad's
# PyTorch keeps mean and rstd in fp16: its gradient of a group of two is 8 roundoffs off.
INACCURATE = ["group_norm", "group_norm_weight"]
RANGES = {"positive": (0, 128), "signed": (-256, 256)}
SEED = 1


def draw(random, low, high, residue):
    """16 distinct elements k / 128 with k = residue mod 8: two operands have none in common."""
    choices = torch.arange(low, high)
    choices = choices[choices % 8 == residue]
    values = choices[torch.randperm(len(choices), generator=random)[:16]] / 128
    return values.reshape(4, 4).half().requires_grad_()


def gradients(op, operands, random):
    """Returns the cotangent and the gradients; nothing if the op has none or is not defined here."""
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
            if name in INACCURATE:
                continue
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
