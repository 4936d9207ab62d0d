"""Ops that a formula of the user defines."""

from .._halfgrad import _reference


def formula(reference, inputs, *, name=None, outputs=(), gradient=None, least=(0, 0, 0),
            exact=False, may_work_in_place=False):
    """Returns the op that a formula defines, for halfgrad.check(), cases() and kernel_test().

    `reference` gets an Array for each operand and returns one, or a tuple of several, computed with
    the functions of halfgrad.reference. Its result decides the shapes of the outputs.

    inputs: for each operand its sizes, "m", "n", "k" or constants: ("m", "k"); or an input(),
        indices() or mask().
    name: the op's name in reports; by default that of the function.
    outputs: names of several outputs, or an output() for each.
    gradient: the number of an input makes it the formula of a backward kernel, which takes the
        operands, then the gradient of each result, and returns the gradient by that input. For
        several numbers it returns as many gradients.
    least: the smallest m, n and k for which the formula is defined.
    exact: the op does not round; every element must be that of the formula.
    may_work_in_place: the output may be the first input, if it has its shape.

    Raises ValueError for wrong inputs or outputs, and what the reference raises.
    """
    if not callable(reference):
        raise ValueError(f"formula: expected a function as reference, got {reference!r}")
    if isinstance(inputs, str) or not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError(f"formula: expected a list of sizes as inputs, as [('m', 'k')], got {inputs!r}")
    if isinstance(outputs, str):
        raise ValueError(f"formula: expected a list of names as outputs, got {outputs!r}")
    least = tuple(least)
    if len(least) != 3:
        raise ValueError(f"formula: expected (m, n, k) as least, got {least}")
    if name is None:
        name = getattr(reference, "__name__", "formula")
        name = "formula" if name == "<lambda>" else name
    return _reference._formula(reference, list(inputs), name, list(outputs or ()), gradient, least,
                               exact, may_work_in_place)


def chosen_op(op, reference, *, inputs, outputs, gradient, name, least, exact, may_work_in_place):
    """The op of check(): a name, a formula, or the formula that these arguments define."""
    if (op is None) == (reference is None):
        got = "neither" if op is None else f"op={op!r} and a reference"
        raise ValueError(f"check: expected the name of an op or reference=, got {got}")
    if reference is not None:
        return formula(reference, inputs, name=name, outputs=outputs or (), gradient=gradient,
                       least=least, exact=exact, may_work_in_place=may_work_in_place)
    given = [key for key, value in (("inputs", inputs), ("outputs", outputs), ("gradient", gradient),
                                    ("name", name)) if value is not None]
    if given or exact or tuple(least) != (0, 0, 0):
        wrong = ", ".join(given) or ("exact" if exact else "least")
        raise ValueError(f"check: expected {wrong} only with reference=, got op={op!r}")
    return op
