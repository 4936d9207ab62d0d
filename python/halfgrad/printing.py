"""How tensors print: as in PyTorch, with the options of set_printoptions()."""

import contextlib
import dataclasses
import math
from typing import Any, Iterator, Optional, Sequence, Union

from ._halfgrad import Tensor, bool_, cat, get_default_dtype, int64


@dataclasses.dataclass
class _Options:
    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: Optional[bool] = None


_PROFILES = {"default": _Options(), "short": _Options(precision=2, edgeitems=2),
             "full": _Options(threshold=math.inf)}
_options = _Options()


def set_printoptions(precision: Optional[int] = None, threshold: Optional[float] = None,
                     edgeitems: Optional[int] = None, linewidth: Optional[int] = None,
                     profile: Optional[str] = None, sci_mode: Optional[bool] = None) -> None:
    """Sets how tensors print.

    `precision` digits follow the point. A tensor of more than `threshold` elements shows the first
    and last `edgeitems` of each dimension. Lines have at most `linewidth` characters. `profile` is
    "default", "short" or "full". `sci_mode` switches the notation 1.0000e+00 on or off; None, also
    by default, chooses it by the values.
    """
    if profile is not None:
        known = _PROFILES.get(profile)
        if known is None:
            raise ValueError("set_printoptions: expected profile \"default\", \"short\" or \"full\", "
                             f"got \"{profile}\"")
        for name in ("precision", "threshold", "edgeitems", "linewidth"):
            setattr(_options, name, getattr(known, name))
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems,
             "linewidth": linewidth}
    for name, value in given.items():
        if value is not None:
            setattr(_options, name, value)
    _options.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The options as arguments of set_printoptions()."""
    return dataclasses.asdict(_options)


@contextlib.contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """set_printoptions() until the end of a block."""
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**before)


def _flat(values: Any) -> Iterator[Any]:
    if isinstance(values, list):
        for value in values:
            yield from _flat(value)
    else:
        yield values


class _Format:
    """One notation and width for all elements that are shown."""

    def __init__(self, values: Sequence[Union[float, int, bool]]) -> None:
        self.integers = self.scientific = False
        self.width = 1
        self.is_float = any(isinstance(value, float) for value in values)
        shown = values
        if self.is_float:
            shown = [value for value in values if math.isfinite(value) and value != 0]
            if not shown:
                self.integers = True
                return
            largest, least = max(map(abs, shown)), min(map(abs, shown))
            self.integers = all(value == math.ceil(value) for value in shown)
            self.scientific = (largest / least > 1000 or largest > 1e8 or least < 1e-4
                               if _options.sci_mode is None else _options.sci_mode)
        self.width = max((len(self._number(value)) for value in shown), default=1)

    def _number(self, value: Union[float, int, bool]) -> str:
        if not self.is_float:
            return str(value)
        if self.scientific:
            return f"{value:.{_options.precision}e}"
        if self.integers:
            return f"{value:.0f}" + ("." if math.isfinite(value) else "")
        return f"{value:.{_options.precision}f}"

    def __call__(self, value: Union[float, int, bool]) -> str:
        return self._number(value).rjust(self.width)


def _edges(x: Tensor) -> Tensor:
    """The elements that are shown of a tensor with more than `threshold` elements."""
    count = _options.edgeitems
    for dim, size in enumerate(x.shape):
        if size > 2 * count:
            x = cat([x.narrow(dim, 0, count), x.narrow(dim, size - count, count)], dim)
    return x


def _vector(values: list[Any], cut: bool, indent: int, form: _Format) -> str:
    texts = [form(value) for value in values]
    if cut:
        half = len(texts) // 2
        texts = texts[:half] + [" ..." if texts else "..."] + texts[half:]
    in_line = max(1, (_options.linewidth - indent) // (form.width + 2))
    lines = [", ".join(texts[i:i + in_line]) for i in range(0, len(texts), in_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _nested(values: Any, cuts: Sequence[bool], indent: int, form: _Format) -> str:
    if not cuts:
        return form(values)
    if len(cuts) == 1:
        return _vector(values, cuts[0], indent, form)
    parts = [_nested(value, cuts[1:], indent + 1, form) for value in values]
    if cuts[0]:
        half = len(parts) // 2
        parts = parts[:half] + ["..."] + parts[half:]
    return "[" + ("," + "\n" * (len(cuts) - 1) + " " * (indent + 1)).join(parts) + "]"


def _elements(x: Tensor, indent: int) -> str:
    if x.numel() == 0:
        return "[]"
    summarizes = x.numel() > _options.threshold
    cuts = [summarizes and size > 2 * _options.edgeitems for size in x.shape]
    values = (_edges(x) if summarizes else x).tolist()
    return _nested(values, cuts, indent, _Format(list(_flat(values))))


def _suffixes(x: Tensor) -> Iterator[str]:
    if x.device.type != "cpu":
        yield f"device='{x.device}'"
    if (x.numel() == 0 and x.ndim != 1) or (x.numel() > 0 and not _options.edgeitems):
        yield f"size={tuple(x.shape)}"
    usual = (get_default_dtype(), int64, bool_)[:1 if x.numel() == 0 else 3]
    if x.dtype not in usual:
        yield f"dtype={x.dtype}"
    if x.grad_fn is not None:
        op = "".join(word.capitalize() for word in x.grad_fn.split("_"))
        yield f"grad_fn=<{op}Backward0>"
    elif x.requires_grad:
        yield "requires_grad=True"


def tensor_text(x: Tensor) -> str:
    """tensor([1., 2.]), as PyTorch prints it."""
    from .nn.parameter import Parameter

    indent = len("tensor(")
    text = "tensor(" + _elements(x.detach(), indent)
    length = len(text) - text.rfind("\n") + 1
    for suffix in _suffixes(x):
        if length + len(suffix) + 2 > _options.linewidth:
            text += ",\n" + " " * indent + suffix
            length = indent + len(suffix)
        else:
            text += ", " + suffix
            length += len(suffix) + 2
    return ("Parameter containing:\n" if isinstance(x, Parameter) else "") + text + ")"
