"""Losses as modules: criterion(input, target). Weights are buffers, so that to() moves them."""

from typing import Any, Callable, Optional

from .._halfgrad import Tensor
from .._halfgrad.nn import Module
from . import functional as F


class _Loss(Module):
    """A loss whose options are the keyword arguments of its function, and attributes."""

    def __init__(self, weights: dict[str, Optional[Tensor]], **options: Any) -> None:
        super().__init__()
        for name, weight in weights.items():
            self.register_buffer(name, weight)
        for name, option in options.items():
            setattr(self, name, option)
        self._names = (*weights, *options)

    def arguments(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._names}


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


class HingeEmbeddingLoss(_Loss):
    """hinge_embedding_loss()."""

    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None:
        super().__init__({}, margin=margin, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, **self.arguments())


class SoftMarginLoss(_Loss):
    """soft_margin_loss()."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__({}, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, **self.arguments())


class MultiMarginLoss(_Loss):
    """multi_margin_loss()."""

    def __init__(self, p: int = 1, margin: float = 1.0, weight: Optional[Tensor] = None,
                 reduction: str = "mean") -> None:
        super().__init__({"weight": weight}, p=p, margin=margin, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(input, target, **self.arguments())


class MultiLabelMarginLoss(_Loss):
    """multilabel_margin_loss()."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__({}, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, **self.arguments())


class MultiLabelSoftMarginLoss(_Loss):
    """multilabel_soft_margin_loss()."""

    def __init__(self, weight: Optional[Tensor] = None, reduction: str = "mean") -> None:
        super().__init__({"weight": weight}, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(input, target, **self.arguments())


class PoissonNLLLoss(_Loss):
    """poisson_nll_loss()."""

    def __init__(self, log_input: bool = True, full: bool = False, eps: float = 1e-8,
                 reduction: str = "mean") -> None:
        super().__init__({}, log_input=log_input, full=full, eps=eps, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(input, target, **self.arguments())


class GaussianNLLLoss(_Loss):
    """gaussian_nll_loss()."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__({}, full=full, eps=eps, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor, var: Any) -> Tensor:
        return F.gaussian_nll_loss(input, target, var, **self.arguments())


class MarginRankingLoss(_Loss):
    """margin_ranking_loss()."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__({}, margin=margin, reduction=reduction)

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(input1, input2, target, **self.arguments())


class CosineEmbeddingLoss(_Loss):
    """cosine_embedding_loss()."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__({}, margin=margin, reduction=reduction)

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, target, **self.arguments())


class TripletMarginLoss(_Loss):
    """triplet_margin_loss()."""

    def __init__(self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False,
                 reduction: str = "mean") -> None:
        super().__init__({}, margin=margin, p=p, eps=eps, swap=swap, reduction=reduction)

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(anchor, positive, negative, **self.arguments())


class TripletMarginWithDistanceLoss(_Loss):
    """triplet_margin_with_distance_loss()."""

    def __init__(self, *, distance_function: Optional[Callable[[Tensor, Tensor], Tensor]] = None,
                 margin: float = 1.0, swap: bool = False, reduction: str = "mean") -> None:
        super().__init__({}, distance_function=distance_function, margin=margin, swap=swap,
                         reduction=reduction)

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(anchor, positive, negative, **self.arguments())
