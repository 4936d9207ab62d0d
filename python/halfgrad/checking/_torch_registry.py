"""The ops of PyTorch that have a formula, by their names. Arguments are those of torch and its functional."""

from .. import reference as hr
from ._torch_trace import UnsupportedOp

OPS: dict = {}
MOVES: set = set()  #: ops that return a view, or what may be one


def op(function=None, *, names=(), moves=False):
    """Adds an op under its own name, without a last underscore, or under others."""
    def add(function):
        for name in names or (function.__name__.rstrip("_"),):
            OPS[name] = function
            if moves:
                MOVES.add(name)
        return function

    return add(function) if function else add


def is_array(x):
    return isinstance(x, hr.Array)


def dims_of(dim):
    """One dimension or several as a list; None for all."""
    return None if dim is None else [dim] if isinstance(dim, int) else list(dim)


def expect(holds, what):
    """Raises UnsupportedOp unless a case of an op has a formula."""
    if not holds:
        raise UnsupportedOp(what)
