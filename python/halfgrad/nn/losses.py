"""Losses as modules: criterion(input, target). Weights are buffers, so that to() moves them."""

from typing import Any, Optional

from .._halfgrad import Tensor
from .._halfgrad.nn import Module
from . import functional as F


class _Loss(Module):
    """A loss whose options are the keyword arguments of its function."""

    def __init__(self, weights: dict[str, Optional[Tensor]], **options: Any) -> None:
        super().__init__()
        for name, weight in weights.items():
            self.register_buffer(name, weight)
        self._weights = tuple(weights)
        self._options = options

    def arguments(self) -> dict[str, Any]:
        return {**self._options, **{name: getattr(self, name) for name in self._weights}}


class CrossEntropyLoss(_Loss):
    """cross_entropy() of logits [n, c, ...] and classes [n, ...]."""

    def __init__(self, weight: Optional[Tensor] = None, ignore_index: int = -100,
                 reduction: str = "mean", label_smoothing: float = 0.0) -> None:
        super().__init__({"weight": weight}, ignore_index=ignore_index, reduction=reduction,
                         label_smoothing=label_smoothing)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(input, target, **self.arguments())


class NLLLoss(_Loss):
    """nll_loss() of log-probabilities."""

    def __init__(self, weight: Optional[Tensor] = None, ignore_index: int = -100,
                 reduction: str = "mean") -> None:
        super().__init__({"weight": weight}, ignore_index=ignore_index, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, **self.arguments())


class MSELoss(_Loss):
    """mse_loss()."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__({}, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, **self.arguments())


class L1Loss(_Loss):
    """l1_loss()."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__({}, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, **self.arguments())


class SmoothL1Loss(_Loss):
    """smooth_l1_loss()."""

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__({}, reduction=reduction, beta=beta)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, **self.arguments())


class HuberLoss(_Loss):
    """huber_loss()."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__({}, reduction=reduction, delta=delta)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, **self.arguments())


class KLDivLoss(_Loss):
    """kl_div()."""

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__({}, reduction=reduction, log_target=log_target)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, **self.arguments())


class BCELoss(_Loss):
    """binary_cross_entropy()."""

    def __init__(self, weight: Optional[Tensor] = None, reduction: str = "mean") -> None:
        super().__init__({"weight": weight}, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, **self.arguments())


class BCEWithLogitsLoss(_Loss):
    """binary_cross_entropy_with_logits()."""

    def __init__(self, weight: Optional[Tensor] = None, pos_weight: Optional[Tensor] = None,
                 reduction: str = "mean") -> None:
        super().__init__({"weight": weight, "pos_weight": pos_weight}, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(input, target, **self.arguments())
