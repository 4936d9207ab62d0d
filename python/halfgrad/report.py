"""A page with charts of a training: loss, scale, exponents of the gradients, ops, time and memory.

>>> report = halfgrad.RunReport("run.html", model, scaler, optimizer)
>>> for x, y in loader:
...     ...                      # a training step, which ends in scaler.update()
...     report.step(loss)
>>> report.finish()
"""

import html
import json
import math
import os
from types import TracebackType
from typing import Any, Optional, Sequence, Type, Union

from . import nn
from ._halfgrad import Tensor, _RunReport
from ._halfgrad.amp import GradScaler
from ._halfgrad.optim import Optimizer

__all__ = ["RunReport"]

Optimizers = Union[Optimizer, Sequence[Optimizer]]


class RunReport:
    """Records the steps of one or several trainings, and writes them as a page for the browser.

    Beside the page `run.html` it writes the same data as `run.data.json` and as CSV files. It raises
    an error at once if the page cannot be written. As a context manager it writes the page also after
    an exception, and says on the page that the training was interrupted. In a notebook a report is
    shown as the page itself.

    `optimizer` is the optimizer, or a list of several in the order of their steps. With it, and a
    GradScaler(history=64), the cause of a skipped step names the parameter.

    `every` is the number of steps from one observed step to the next: an observed step copies its
    gradients to the host. `score` is the meaning and unit of step()'s second argument.
    """

    def __init__(self, file: Union[str, "os.PathLike[str]"], model: Optional[nn.Module] = None,
                 scaler: Optional[GradScaler] = None, optimizer: Optimizers = (), *,
                 name: str = "run", task: str = "", score: str = "", every: int = 100,
                 title: str = "Training report") -> None:
        self._report = _RunReport(os.fspath(file))
        self._report.describe(title, "")
        self._kept: Any = None
        self.begin_run(model, scaler, optimizer, name=name, task=task, score=score, every=every)

    def begin_run(self, model: Optional[nn.Module] = None, scaler: Optional[GradScaler] = None,
                  optimizer: Optimizers = (), *, name: str = "run", task: str = "",
                  score: str = "", every: int = 100) -> None:
        """Ends the last run, and begins another. Runs of the same task share their charts."""
        optimizers = [optimizer] if isinstance(optimizer, Optimizer) else list(optimizer)
        self._report.begin_run(name, task, score, model, scaler, optimizers, every)
        self._kept = (model, scaler)

    def step(self, loss: Union[Tensor, float], score: float = math.nan) -> None:
        """Records a step of the last run, after its update."""
        self._report.step(loss, score)

    def result(self, name: str, value: float) -> None:
        """Adds a figure of the last run to the overview: result("test accuracy (%)", 97.2)."""
        self._report.result(name, value)

    def note(self, sentence: str) -> None:
        """Adds a sentence under the heading."""
        self._report.note(sentence)

    def finish(self) -> None:
        """Ends the last run and writes the files."""
        self._report.finish()
        self._kept = None

    def data(self) -> Any:
        """The data of the page; docs/report.md has the schema."""
        return json.loads(self._report.json())

    def __enter__(self) -> "RunReport":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if kind is not None:
            self._report.set_interrupted()
        self.finish()

    def _repr_html_(self) -> str:
        page = html.escape(self._report.html(), quote=True)
        return (f'<iframe title="Training report" srcdoc="{page}" '
                'style="width: 100%; height: 720px; border: 1px solid #7a8491"></iframe>')
