"""Layers that call a function of functional.py: activations, dropouts and distances."""

from typing import Any, Callable, ClassVar

from .._halfgrad import Tensor
from .._halfgrad.nn import Module
from . import functional as F


class _Function(Module):
    """A layer that calls a function with its options, which are attributes."""

    function: ClassVar[Callable[..., Tensor]]

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self._names = tuple(options)
        for name, value in options.items():
            setattr(self, name, value)

    def arguments(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._names}

    def forward(self, *inputs: Tensor) -> Tensor:
        return type(self).function(*inputs, **self.arguments())

    def extra_repr(self) -> str:
        shown = {name: value for name, value in self.arguments().items()
                 if name != "inplace" or value}
        return ", ".join(f"{name}={value}" for name, value in shown.items())


class ReLU6(_Function):
    """min(max(x, 0), 6)."""

    function = staticmethod(F.relu6)

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class Hardtanh(_Function):
    """Limits elements to [min_val, max_val]."""

    function = staticmethod(F.hardtanh)

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__(min_val=min_val, max_val=max_val, inplace=inplace)


class SELU(_Function):
    """1.0507 * elu(x, 1.6733)."""

    function = staticmethod(F.selu)

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class CELU(_Function):
    """x for x > 0, else alpha * (e^(x / alpha) - 1)."""

    function = staticmethod(F.celu)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(alpha=alpha, inplace=inplace)


class Mish(_Function):
    """x * tanh(softplus(x))."""

    function = staticmethod(F.mish)

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class Hardswish(_Function):
    """x * relu6(x + 3) / 6."""

    function = staticmethod(F.hardswish)

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class Hardsigmoid(_Function):
    """relu6(x + 3) / 6."""

    function = staticmethod(F.hardsigmoid)

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class Threshold(_Function):
    """x for x > threshold, else value."""

    function = staticmethod(F.threshold)

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(threshold=threshold, value=value, inplace=inplace)


class Softsign(_Function):
    """x / (1 + |x|)."""

    function = staticmethod(F.softsign)


class Tanhshrink(_Function):
    """x - tanh(x)."""

    function = staticmethod(F.tanhshrink)


class LogSigmoid(_Function):
    """log(sigmoid(x)), without overflow."""

    function = staticmethod(F.logsigmoid)


class Hardshrink(_Function):
    """x for |x| > lambd, else 0."""

    function = staticmethod(F.hardshrink)

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__(lambd=lambd)


class Softshrink(_Function):
    """x - lambd for x > lambd, x + lambd for x < -lambd, else 0."""

    function = staticmethod(F.softshrink)

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__(lambd=lambd)


class GLU(_Function):
    """a * sigmoid(b), where a and b are the halves of the input along `dim`."""

    function = staticmethod(F.glu)

    def __init__(self, dim: int = -1) -> None:
        super().__init__(dim=dim)


class Softmin(_Function):
    """softmax(-x) along `dim`."""

    function = staticmethod(F.softmin)

    def __init__(self, dim: int) -> None:
        super().__init__(dim=dim)


class RReLU(_Function):
    """leaky_relu() with slopes drawn from [lower, upper) in training, else with their mean."""

    function = staticmethod(F.rrelu)

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        super().__init__(lower=lower, upper=upper, inplace=inplace)

    def arguments(self) -> dict[str, Any]:
        return {**super().arguments(), "training": self.training}

    def extra_repr(self) -> str:
        inplace = ", inplace=True" if self.inplace else ""
        return f"lower={self.lower}, upper={self.upper}{inplace}"


class _Dropout(_Function):
    """A dropout of the module's mode."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        if not 0 <= p <= 1:
            raise ValueError(f"{type(self).__name__}: expected 0 <= p <= 1, got {p}")
        super().__init__(p=p, inplace=inplace)

    def arguments(self) -> dict[str, Any]:
        return {**super().arguments(), "training": self.training}

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout1d(_Dropout):
    """Dropout of whole channels, dimension 1 of [n, c, ...]."""

    function = staticmethod(F.dropout1d)


class AlphaDropout(_Dropout):
    """Dropout that keeps the mean 0 and the variance 1 of its input."""

    function = staticmethod(F.alpha_dropout)


class CosineSimilarity(_Function):
    """cosine_similarity(x1, x2)."""

    function = staticmethod(F.cosine_similarity)

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__(dim=dim, eps=eps)


class PairwiseDistance(_Function):
    """pairwise_distance(x1, x2)."""

    function = staticmethod(F.pairwise_distance)

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__(p=p, eps=eps, keepdim=keepdim)
