"""A run as a timeline for https://ui.perfetto.dev, and as events for TensorBoard."""

import os
from typing import Any, Iterable, Optional, Union

from ._halfgrad import Scope, Tensor
from ._halfgrad import tracing as _tracing
from ._halfgrad.amp import GradScaler
from ._halfgrad.nn import Module
from ._halfgrad.optim import Optimizer
from .extras import as_tensor

__all__ = ["TensorBoardWriter", "Trace"]

Path = Union[str, "os.PathLike[str]"]


class Trace:
    """Records the ops of this thread, inside `with`, in Chrome's trace event format.

    The file is made at once, so one that cannot be written is a RuntimeError before it. At
    the end of `with`, also by an exception, it is replaced by the timeline: forward ops in their
    modules, an arrow from each to its gradient, steps of the optimizers, counters.

    >>> with Trace("trace.json", model, [optimizer]) as trace:
    ...     for x, y in loader:
    ...         loss = train_step(x, y)
    ...         trace.step(scaler, loss=loss.item())
    """

    def __init__(self, file: Path, model: Optional[Module] = None,
                 optimizers: Iterable[Optimizer] = (), *, max_calls: int = 10000) -> None:
        self._writer = _tracing.TraceWriter(file, model, max_calls)
        self._model = model
        self._optimizers = list(optimizers)
        self._hooks: list[Any] = []
        self._depth = 0
        self._scopes: list[Scope] = []
        self._scale: Optional[float] = None
        self._skipped = 0

    def __enter__(self) -> "Trace":
        if self._scopes:
            raise RuntimeError("Trace: expected to be entered once, got a second `with` inside it")
        self._scopes = [self._writer.observe()]
        self._scopes += [self._writer.watch(optimizer) for optimizer in self._optimizers]
        self._depth = _tracing.module_depth()
        for module in self._model.modules() if self._model is not None else ():
            self._hooks.append(module.register_forward_pre_hook(_enter))
            self._hooks.append(module.register_forward_hook(_leave, always_call=True))
        return self

    def __exit__(self, *exception: object) -> None:
        for ending in self._hooks:
            ending.remove()
        for scope in self._scopes:
            scope.end()
        _tracing.leave_modules(self._depth)
        self._hooks, self._scopes = [], []
        self._writer.write()

    def step(self, scaler: Optional[GradScaler] = None, **counters: float) -> None:
        """Ends a training step. `counters`, such as loss=0.5, become curves; the scaler's
        decisions become events. Reading the scaler waits for a GPU."""
        for name, value in counters.items():
            self._writer.counter(name, float(value))
        if scaler is not None:
            scale, skipped = scaler.get_scale(), scaler.counts()["skipped_steps"]
            before = scale if self._scale is None else self._scale
            self._writer.scaler_update(before, scale, skipped > self._skipped)
            self._scale, self._skipped = scale, skipped
        self._writer.end_step()

    def counter(self, name: str, value: float) -> None:
        """Adds a point to a curve, now."""
        self._writer.counter(name, float(value))

    def instant(self, track: str, name: str) -> None:
        """Adds an event without a length to a track, now."""
        self._writer.instant(track, name)

    def write(self) -> None:
        """Replaces the file by the timeline so far."""
        self._writer.write()


class TensorBoardWriter:
    """Writes an event file for TensorBoard, with the functions of PyTorch's SummaryWriter.

    Each event reaches the file at once. TensorBoard keeps scalars as float32.

    >>> with TensorBoardWriter("runs/first") as board:
    ...     board.add_scalar("loss", loss, step)
    """

    def __init__(self, log_dir: Path) -> None:
        self.log_dir = os.fspath(log_dir)
        self._file = _tracing.EventFile(log_dir)

    def __enter__(self) -> "TensorBoardWriter":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def add_scalar(self, tag: str, scalar_value: Any, global_step: Optional[int] = None) -> None:
        """Adds a point to the curve `tag`: a Python number, or a tensor of one element."""
        self._file.add_scalar(tag, float(scalar_value), global_step or 0)

    def add_histogram(self, tag: str, values: Any, global_step: Optional[int] = None) -> None:
        """Adds a histogram of the finite values of a tensor, or of what as_tensor() takes."""
        self._file.add_histogram(tag, _floating(values), global_step or 0)

    def add_exponents(self, tag: str, values: Any, global_step: Optional[int] = None) -> None:
        """Adds a histogram of log2 of the magnitudes; zeros are left out. float16 loses what is
        left of -24."""
        self._file.add_exponents(tag, _floating(values), global_step or 0)

    def add_text(self, tag: str, text_string: str, global_step: Optional[int] = None) -> None:
        """Adds a text in Markdown."""
        self._file.add_text(tag, text_string, global_step or 0)

    def flush(self) -> None:
        """Writes the file to the disk."""
        self._file.flush()

    def close(self) -> None:
        """Ends the file. A second call does nothing."""
        self._file.close()


def _enter(module: Module, args: object) -> None:
    _tracing.enter_module(module)


def _leave(module: Module, args: object, output: object) -> None:
    _tracing.leave_modules(_tracing.module_depth() - 1)


def _floating(values: Any) -> Tensor:
    tensor = as_tensor(values).detach()
    return tensor if tensor.is_floating_point() else tensor.double()
