"""The schedule that follows a measured value."""

import math
from typing import Any, Sequence, Union

from .._halfgrad import Tensor
from .._halfgrad.optim import Optimizer


class ReduceLROnPlateau:
    """Multiplies lr by `factor` when a value has not improved for more than `patience` epochs.

    A value improves if it is below best * (1 - threshold), or with threshold_mode "abs" below
    best - threshold; with mode "max" above best * (1 + threshold) or best + threshold. After a
    reduction, `cooldown` epochs do not count. lr does not fall below `min_lr`, one for all groups or
    one for each. A change smaller than `eps` is not made.
    """

    def __init__(self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1,
                 patience: int = 10, threshold: float = 1e-4, threshold_mode: str = "rel",
                 cooldown: int = 0, min_lr: Union[float, Sequence[float]] = 0.0,
                 eps: float = 1e-8) -> None:
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ValueError("ReduceLROnPlateau: expected mode \"min\" or \"max\" and "
                             "threshold_mode \"rel\" or \"abs\", got "
                             f"\"{mode}\" and \"{threshold_mode}\"")
        if factor >= 1:
            raise ValueError(f"ReduceLROnPlateau: expected a factor below 1, got {factor}")
        self.optimizer = optimizer
        self.mode, self.factor, self.patience = mode, factor, patience
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.cooldown, self.min_lr, self.eps = cooldown, min_lr, eps
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = self.cooldown_counter = self.last_epoch = 0
        self._min_lrs()

    def _min_lrs(self) -> list[float]:
        groups = len(self.optimizer.param_groups)
        if not isinstance(self.min_lr, (list, tuple)):
            return [self.min_lr] * groups  # type: ignore[list-item]
        if len(self.min_lr) != groups:
            raise ValueError("ReduceLROnPlateau: expected one min_lr, or one for each of the "
                             f"{groups} groups, got {len(self.min_lr)}")
        return list(self.min_lr)

    def _is_better(self, value: float) -> bool:
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "rel":
            bound = self.best * (1 + sign * self.threshold)
        else:
            bound = self.best + sign * self.threshold
        return value > bound if self.mode == "max" else value < bound

    def step(self, metrics: Union[float, Tensor]) -> None:
        """Ends an epoch with this value of the loss, or another measure."""
        value = float(metrics)
        self.last_epoch += 1
        if self._is_better(value):
            self.best = value
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0

    def _reduce(self) -> None:
        for group, least in zip(self.optimizer.param_groups, self._min_lrs()):
            reduced = max(group["lr"] * self.factor, least)
            if group["lr"] - reduced > self.eps:
                group["lr"] = reduced

    def get_last_lr(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.__dict__.update(state_dict)
