"""A look inside mixed precision: what autocast casts, what float16 loses, where the first inf comes from.

`OpLog` and `UnderflowLedger` observe the ops of this thread inside a `with` statement; `find_overflow`
and `TwinRun` run steps themselves; `ScaleTimeline` reads GradScaler.reports(). In a notebook each shows
itself as a table. docs/inspector.md explains them.
"""

import os
import sys
from html import escape
from typing import Any, Callable, Iterable, Optional, Sequence

from . import _halfgrad
from ._halfgrad import Scope, Tensor
from ._halfgrad.inspector import (ExponentHistogram, GradientRange, OperandRange, OperandRecord,
                                  OpRecord, OpSummary, Overflow, Recommendation, ScalePoint,
                                  TwinDeviation, TwinErrors, TwinStep)
from ._halfgrad.nn import Module
from .regions import Region

__all__ = [
    "ExponentHistogram", "GradientRange", "OpLog", "OpRecord", "OpSummary", "OperandRange",
    "OperandRecord", "Overflow", "Recommendation", "ScalePoint", "ScaleTimeline", "TwinDeviation",
    "TwinErrors", "TwinRun", "TwinStep", "UnderflowLedger", "find_overflow",
]

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]], notes: Iterable[str] = ()) -> str:
    """A table in HTML; every cell and note is text."""
    def line(cells: Sequence[Any], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(_shown(cell))}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    paragraphs = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return (f'<table><thead>{line(head, "th")}</thead><tbody>{body}</tbody></table>{paragraphs}')


def _shown(cell: Any) -> str:
    if cell is None:
        return ""
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell)


class OpLog(_halfgrad.inspector.OpLog):
    """Records the forward ops of this thread inside a `with` statement.

    >>> ops = OpLog(model)
    >>> with ops:
    ...     loss = compute_loss()
    >>> print(ops)
    """

    def __init__(self, model: Optional[Module] = None) -> None:
        super().__init__(model)
        self._scopes: list[Scope] = []

    def __enter__(self) -> "OpLog":
        self._scopes.append(self.begin())
        return self

    def __exit__(self, *exception: object) -> None:
        self._scopes.pop().end()

    def _repr_html_(self) -> str:
        rows = [(row.op, row.precision, row.run_dtype, row.calls, row.casts_made, row.casts_cached,
                 row.bytes_cast) for row in self.summary()]
        promoted = dict.fromkeys(repr(record) for record in self.records if record.is_promoted)
        return _table(("op", "class", "ran in", "calls", "casts", "cached", "bytes cast"), rows,
                      promoted)


class UnderflowLedger(_halfgrad.inspector.UnderflowLedger):
    """Histograms of a model's gradients, to see what float16 loses and what the loss scale saves.

    >>> ledger = UnderflowLedger(model, every=100)
    >>> with ledger.observe(scaler.get_scale()):
    ...     scaler.scale(compute_loss()).backward()
    >>> ledger.recommend().scale
    """

    def observe(self, scale: float) -> Region:
        """Observes the forward and backward pass of a loss that is multiplied by `scale`. Of each
        `every` regions it measures the first."""
        return Region(lambda: self.begin(scale))

    def _repr_html_(self) -> str:
        rows = [(r.name, r.dtype, r.scaled.total, r.scaled.zeros, r.lost_without_scale,
                 r.lost_with_scale, r.subnormal_with_scale,
                 r.headroom_bits if r.dtype == _halfgrad.float16 else None) for r in self.ranges()]
        text = repr(self)
        return _table(("gradient of", "dtype", "values", "zeros", "lost unscaled", "lost",
                       "subnormal", "headroom"), rows, text[text.index("A scale of"):].splitlines())


def _line_of_the_user() -> str:
    """The innermost frame outside this package: "attention.py:12 in forward"."""
    frame = sys._getframe(1)
    while frame is not None:
        path = os.path.abspath(frame.f_code.co_filename)
        if not path.startswith(_PACKAGE):
            folder = os.getcwd() + os.sep
            short = path[len(folder):] if path.startswith(folder) else frame.f_code.co_filename
            return f"{short}:{frame.f_lineno} in {frame.f_code.co_name}"
        frame = frame.f_back  # type: ignore[assignment]
    return ""


def find_overflow(model: Module, loss: Callable[[], Tensor], *, scale: float = 65536.0,
                  random: Optional[Tensor] = None) -> Overflow:
    """Runs a step's forward and backward pass again, and finds the op that made the first inf or NaN.

    `loss()` returns the unscaled loss; `scale` is scaler.get_scale() before update(); `random` is
    get_rng_state() when the step began. Gradients, buffers and the random state are as before
    afterwards.
    """
    key = None
    if random is not None:
        data = random._to_bytes()
        if len(data) != 16:
            raise ValueError(f"find_overflow: expected the 16 bytes of get_rng_state(), got {len(data)}")
        key = (int.from_bytes(data[:8], "little"), int.from_bytes(data[8:], "little"))
    return _halfgrad.inspector.find_overflow(model, loss, scale, key, _line_of_the_user)


class TwinRun(_halfgrad.inspector.TwinRun):
    """A training in low precision beside the same training in float32: where do they part?

    `build(low_precision)` returns a model and a function `step(i)`, which makes one training step
    and returns the loss or None. The sides have the same seed, data and dropout.

    >>> twin = TwinRun(build, steps=20, bound=0.05)
    >>> twin.first_beyond()
    """

    def _repr_html_(self) -> str:
        text = repr(self)
        last = self.steps[-1].layers
        rows = [(layer or "(top level)", errors.activation, errors.gradient, errors.weight)
                for layer, errors in zip(self.layers, last)]
        return _table(("relative error of", "activation", "gradient", "weight"), rows,
                      text[text.index("These are the errors"):].splitlines())


class ScaleTimeline(_halfgrad.inspector.ScaleTimeline):
    """The loss scale of a run, with a cause for every skip, growth and back-off.

    >>> scaler = GradScaler(history=1000)
    >>> ScaleTimeline(scaler.reports(), model)

    For optimizers that do not hold model.parameters() in their order, pass them too, in the order of
    their steps.
    """

    def _repr_html_(self) -> str:
        rows = [(point.step, point.loss, point.text) for point in self.events()]
        return f"<p>{escape(self.summary())}</p>" + _table(("step", "loss", "what happened"), rows)
