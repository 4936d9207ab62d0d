"""Writes small_integers.json: ops on uint8, int8 and int16. PyTorch 2.15.0.

    python small_integers.py

`promotion` has the dtype of an operation on both, for each pair of `dtypes`. A case has the op, the
dtypes of its operands, and the dtype and the elements of its output; an op that PyTorch refuses
has the dtype "error". The operands of a dtype are `operands[dtype]`: the first, then the second.
"""

import torch
import torch.nn.functional as F

import expected

SMALL = ["uint8", "int8", "int16"]
DTYPES = ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"]
OTHERS = ["int32", "int64", "bool", "float32"]

# The second operands have no 0, by which integers cannot be divided.
OPERANDS = {
    "uint8": [[0, 1, 127, 128, 200, 255], [1, 255, 128, 3, 100, 255]],
    "int8": [[-128, -1, 0, 1, 100, 127], [1, -128, 127, -3, 100, -1]],
    "int16": [[-32768, -1, 0, 1, 300, 32767], [1, -32768, 255, -3, 300, -1]],
    "int32": [[-70000, -1, 0, 1, 300, 70000], [1, -70000, 255, -3, 300, -1]],
    "int64": [[-70000, -1, 0, 1, 300, 70000], [1, -70000, 255, -3, 300, -1]],
    "bool": [[False, True, False, True, False, True], [True] * 6],
    "float32": [[-2.5, 0.5, 0, 1, 300, 127], [1, 0.25, -3, 2, -0.5, 128]],
}

BINARY = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "div_trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "floor_divide": torch.floor_divide,
    "remainder": torch.remainder,
    "fmod": torch.fmod,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "eq": torch.eq,
    "lt": torch.lt,
    "ge": torch.ge,
    "logical_xor": torch.logical_xor,
    "where": lambda x, y: torch.where(x > y, x, y),
    "cat": lambda x, y: torch.cat([x, y]),
}

UNARY = {
    "neg": torch.neg,
    "abs": torch.abs,
    "square": torch.square,
    "pow3": lambda x: torch.pow(x, 3),
    "relu": F.relu,
    "clamp": lambda x: torch.clamp(x, 2, 100),
    "logical_not": torch.logical_not,
    "sqrt": torch.sqrt,
    "add_scalar": lambda x: x + 100,
    "sub_scalar": lambda x: x - 100,
    "scalar_sub": lambda x: 100 - x,
    "mul_scalar": lambda x: x * 3,
    "mul_fraction": lambda x: x * 0.5,
    "div_scalar": lambda x: x / 4,
    "floor_divide_scalar": lambda x: x // 3,
    "remainder_scalar": lambda x: x % 3,
    "eq_scalar": lambda x: x == 1,
    "lt_fraction": lambda x: x < 0.5,
    "masked_fill": lambda x: x.masked_fill(x == 1, 7),
    "sum": torch.sum,
    "sum_own": lambda x: torch.sum(x, dtype=x.dtype),
    "prod": torch.prod,
    "cumsum": lambda x: torch.cumsum(x, 0),
    "mean": torch.mean,
    "mean_float": lambda x: torch.mean(x, dtype=torch.float32),
    "max": torch.max,
    "min": torch.min,
    "argmax": torch.argmax,
    "argmin": torch.argmin,
    "any": torch.any,
    "all": torch.all,
    "sort": lambda x: torch.sort(x).values,
    "argsort_descending": lambda x: torch.argsort(x, descending=True),
    "flip": lambda x: torch.flip(x, [0]),
    "tril": lambda x: torch.tril(x.reshape(2, 3)),
    "mm": lambda x: torch.mm(x.reshape(2, 3), x.reshape(3, 2)),
    "index_select": lambda x: torch.index_select(x, 0, torch.tensor([5, 0, 5])),
    "gather_by_int64": lambda x: torch.gather(x, 0, torch.tensor([4, 4, 1])),
    "scatter_add": lambda x: torch.scatter_add(x, 0, torch.tensor([0, 0, 5, 5, 1, 1]), x),
    "softmax": lambda x: torch.softmax(x, 0),
}

# Values whose integer part int64 holds: PyTorch leaves the others to the machine.
CAST = [0.0, 0.9, -0.9, 1.5, -1.0, 127.9, 128, 255.9, 256, -128.5, -129, 32767.5, 32768, 65535, 65536, -32769]


def dtype_of(name):
    return getattr(torch, name)


def name_of(dtype):
    return str(dtype).removeprefix("torch.")


def operand(name, place=0):
    return torch.tensor(OPERANDS[name][place], dtype=dtype_of(name))


def case(op, function, inputs, operands):
    try:
        output = function(*operands)
    except (RuntimeError, NotImplementedError):
        return dict(op=op, inputs=inputs, output="error", values=[])
    values = expected.numbers(output.flatten())
    return dict(op=op, inputs=inputs, output=name_of(output.dtype), values=values)


def cast(dtype):
    return lambda x: x.to(dtype_of(dtype))


def main():
    pairs = [(a, b) for a in SMALL + OTHERS for b in SMALL + OTHERS if {a, b} & set(SMALL)]
    cases = [case(op, f, [name], [operand(name)]) for op, f in UNARY.items() for name in SMALL]
    cases += [
        case(op, f, [a, b], [operand(a), operand(b, 1)])
        for op, f in BINARY.items() for a, b in pairs
    ]
    numbers = torch.tensor(CAST, dtype=torch.float64)
    promotion = [
        [name_of(torch.promote_types(dtype_of(a), dtype_of(b))) for b in DTYPES] for a in DTYPES
    ]
    expected.write(
        "small_integers.json",
        dtypes=DTYPES,
        promotion=promotion,
        operands=OPERANDS,
        cast_from=CAST,
        casts=[dict(output=name, values=numbers.to(dtype_of(name)).tolist()) for name in SMALL],
        cases=cases,
    )


if __name__ == "__main__":
    main()
