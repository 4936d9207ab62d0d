"""Evaluates the expressions of a page with PyTorch or halfgrad; see record.py.

A page has an expression a line, after statements that end with ";", or several lines between "<<<" and ">>>".
"""

import ast
import collections
import copy
import io
import math
import pathlib
import pickle

import numpy as np

FOLDER = pathlib.Path(__file__).parent


def sources(page):
    block = None
    for line in (FOLDER / f"{page}.txt").read_text().split("\n"):
        if line == "<<<":
            block = []
        elif line == ">>>":
            yield "\n".join(block)
            block = None
        elif block is not None:
            block.append(line)
        elif line:
            yield line


def described(value, package):
    """The value as lists, dicts, numbers and text: equal for equal tensors of both packages."""
    if isinstance(value, package.Tensor):
        return {"dtype": name_of(value.dtype), "shape": list(value.shape),
                "requires_grad": value.requires_grad, "values": described(value.tolist(), package)}
    if isinstance(value, np.ndarray):
        return {"array": str(value.dtype), "values": described(value.tolist(), package)}
    if isinstance(value, package.dtype):
        return name_of(value)
    if isinstance(value, tuple):
        return {"tuple": [described(element, package) for element in value]}
    if isinstance(value, list):
        return [described(element, package) for element in value]
    if isinstance(value, dict):
        return {str(key): described(element, package) for key, element in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return repr(value)


def name_of(dtype):
    return str(dtype).rsplit(".", 1)[-1].rstrip("_")


def evaluate(source, torch):
    """The value of the last expression, described."""
    torch.manual_seed(0)
    names = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "optim": torch.optim,
             "lrs": torch.optim.lr_scheduler, "autograd": torch.autograd, "data": torch.utils.data,
             "Function": torch.autograd.Function, "np": np, "copy": copy, "io": io, "math": math,
             "pickle": pickle, "OrderedDict": collections.OrderedDict}
    statements = ast.parse(source)
    last = statements.body.pop()
    exec(compile(statements, "<expression>", "exec"), names)
    return described(eval(compile(ast.Expression(last.value), "<expression>", "eval"), names), torch)
