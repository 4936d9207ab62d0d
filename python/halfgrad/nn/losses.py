"""Losses as modules: criterion(input, target). Weights are buffers, so that to() moves them.

A formula below is the loss of one element, or of one sample; `reduction` then takes the mean, the sum or none.
"""

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
    """-log softmax(input)[target], for logits [n, c, ...] and classes [n, ...]: cross_entropy()."""

    def __init__(self, weight: Optional[Tensor] = None, ignore_index: int = -100,
                 reduction: str = "mean", label_smoothing: float = 0.0) -> None:
        super().__init__({"weight": weight}, ignore_index=ignore_index, reduction=reduction,
                         label_smoothing=label_smoothing)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(input, target, **self.arguments())


class NLLLoss(_Loss):
    """-input[target], for log-probabilities [n, c, ...] and classes [n, ...]: nll_loss()."""

    def __init__(self, weight: Optional[Tensor] = None, ignore_index: int = -100,
                 reduction: str = "mean") -> None:
        super().__init__({"weight": weight}, ignore_index=ignore_index, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, **self.arguments())


class MSELoss(_Loss):
    """(input - target)^2: mse_loss()."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__({}, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, **self.arguments())


class L1Loss(_Loss):
    """|input - target|: l1_loss()."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__({}, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, **self.arguments())


class SmoothL1Loss(_Loss):
    """A parabola of input - target up to a distance of beta, and a line beyond: smooth_l1_loss()."""

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__({}, reduction=reduction, beta=beta)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, **self.arguments())


class HuberLoss(_Loss):
    """SmoothL1Loss times delta, with delta for beta: huber_loss()."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__({}, reduction=reduction, delta=delta)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, **self.arguments())


class KLDivLoss(_Loss):
    """target (log target - input), for log-probabilities as input: kl_div()."""

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__({}, reduction=reduction, log_target=log_target)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, **self.arguments())


class BCELoss(_Loss):
    """-(target log input + (1 - target) log(1 - input)), for probabilities: binary_cross_entropy()."""

    def __init__(self, weight: Optional[Tensor] = None, reduction: str = "mean") -> None:
        super().__init__({"weight": weight}, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, **self.arguments())


class BCEWithLogitsLoss(_Loss):
    """BCELoss of sigmoid(input), computed together: binary_cross_entropy_with_logits()."""

    def __init__(self, weight: Optional[Tensor] = None, pos_weight: Optional[Tensor] = None,
                 reduction: str = "mean") -> None:
        super().__init__({"weight": weight, "pos_weight": pos_weight}, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(input, target, **self.arguments())


class HingeEmbeddingLoss(_Loss):
    """input where target is 1, max(margin - input, 0) where it is -1: hinge_embedding_loss()."""

    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None:
        super().__init__({}, margin=margin, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, **self.arguments())


class SoftMarginLoss(_Loss):
    """log(1 + exp(-target input)), for targets 1 and -1: soft_margin_loss()."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__({}, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, **self.arguments())


class MultiMarginLoss(_Loss):
    """The mean over classes of max(margin - x[target] + x[j], 0)^p, 0 for j = target: multi_margin_loss()."""

    def __init__(self, p: int = 1, margin: float = 1.0, weight: Optional[Tensor] = None,
                 reduction: str = "mean") -> None:
        super().__init__({"weight": weight}, p=p, margin=margin, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(input, target, **self.arguments())


class MultiLabelMarginLoss(_Loss):
    """The sum of max(1 - x[label] + x[j], 0) over labels and other classes j, divided by the number of classes:
    multilabel_margin_loss(). The labels of a row end at its first -1."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__({}, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, **self.arguments())


class MultiLabelSoftMarginLoss(_Loss):
    """BCEWithLogitsLoss, averaged over the last dimension: multilabel_soft_margin_loss()."""

    def __init__(self, weight: Optional[Tensor] = None, reduction: str = "mean") -> None:
        super().__init__({"weight": weight}, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(input, target, **self.arguments())


class PoissonNLLLoss(_Loss):
    """exp(input) - target input, or input - target log(input + eps) unless log_input: poisson_nll_loss()."""

    def __init__(self, log_input: bool = True, full: bool = False, eps: float = 1e-8,
                 reduction: str = "mean") -> None:
        super().__init__({}, log_input=log_input, full=full, eps=eps, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(input, target, **self.arguments())


class GaussianNLLLoss(_Loss):
    """(log var + (input - target)^2 / var) / 2: gaussian_nll_loss()."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__({}, full=full, eps=eps, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor, var: Any) -> Tensor:
        return F.gaussian_nll_loss(input, target, var, **self.arguments())


class MarginRankingLoss(_Loss):
    """max(-target (input1 - input2) + margin, 0), for targets 1 and -1: margin_ranking_loss()."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__({}, margin=margin, reduction=reduction)

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(input1, input2, target, **self.arguments())


class CosineEmbeddingLoss(_Loss):
    """1 - cosine where target is 1, max(cosine - margin, 0) where it is -1: cosine_embedding_loss()."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__({}, margin=margin, reduction=reduction)

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, target, **self.arguments())


class TripletMarginLoss(_Loss):
    """max(|anchor - positive| - |anchor - negative| + margin, 0), in the p-norm: triplet_margin_loss()."""

    def __init__(self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False,
                 reduction: str = "mean") -> None:
        super().__init__({}, margin=margin, p=p, eps=eps, swap=swap, reduction=reduction)

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(anchor, positive, negative, **self.arguments())


class TripletMarginWithDistanceLoss(_Loss):
    """TripletMarginLoss with a distance of your own: triplet_margin_with_distance_loss()."""

    def __init__(self, *, distance_function: Optional[Callable[[Tensor, Tensor], Tensor]] = None,
                 margin: float = 1.0, swap: bool = False, reduction: str = "mean") -> None:
        super().__init__({}, distance_function=distance_function, margin=margin, swap=swap,
                         reduction=reduction)

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(anchor, positive, negative, **self.arguments())
