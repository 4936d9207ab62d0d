"""Averages of a model's weights over the steps of a training, as torch.optim.swa_utils."""

import copy
from typing import Any, Callable, Generic, Iterable, Optional, TypeVar, Union

from .._halfgrad import Tensor, device, float32, float64, int64, zeros
from .._halfgrad.nn import BatchNorm1d, Module, plain_running_averages
from ..autograd import no_grad

#: Returns the next average from the present one, the model's value and the number of values in the
#: average, a 0-dim tensor of int64 on their device.
AvgFn = Callable[[Tensor, Tensor, Tensor], Tensor]

#: Replaces averages by the next ones, in place, from the same arguments as lists.
MultiAvgFn = Callable[[list[Tensor], list[Tensor], Tensor], None]

M = TypeVar("M", bound=Module)


def get_swa_avg_fn() -> AvgFn:
    """The mean of all values: averaged + (current - averaged) / (num_averaged + 1)."""

    def average(averaged: Tensor, current: Tensor, num_averaged: Tensor) -> Tensor:
        return averaged.lerp(current, (1 / (num_averaged.to(float64) + 1)).to(averaged.dtype))

    return average


def get_ema_avg_fn(decay: float = 0.999) -> AvgFn:
    """The exponential moving average: decay * averaged + (1 - decay) * current."""
    if not 0 <= decay <= 1:
        raise ValueError(f"get_ema_avg_fn: expected decay in [0, 1], got {decay}")
    return lambda averaged, current, num_averaged: averaged.lerp(current, 1 - decay)


def _of_lists(avg_fn: AvgFn) -> MultiAvgFn:
    @no_grad()
    def average(averaged: list[Tensor], current: list[Tensor], num_averaged: Tensor) -> None:
        for ours, theirs in zip(averaged, current):
            ours.copy_(avg_fn(ours, theirs, num_averaged))

    return average


def get_swa_multi_avg_fn() -> MultiAvgFn:
    """get_swa_avg_fn() for lists, in place."""
    return _of_lists(get_swa_avg_fn())


def get_ema_multi_avg_fn(decay: float = 0.999) -> MultiAvgFn:
    """get_ema_avg_fn() for lists, in place."""
    return _of_lists(get_ema_avg_fn(decay))


def _pairs(averaged: list[Tensor], current: list[Tensor], what: str) -> list[tuple[Tensor, Tensor]]:
    if len(averaged) != len(current):
        raise ValueError(f"AveragedModel: expected a model with {len(averaged)} {what}, "
                         f"got {len(current)}")
    for i, (ours, theirs) in enumerate(zip(averaged, current)):
        if ours.shape != theirs.shape:
            raise ValueError(f"AveragedModel: expected {what} of shape {tuple(ours.shape)} at "
                             f"position {i}, got {tuple(theirs.shape)}")
    return list(zip(averaged, current))


class AveragedModel(Module, Generic[M]):
    """A copy of `model` whose parameters are averages of the model's:

        ema = AveragedModel(model, avg_fn=get_ema_avg_fn(0.999))
        for x, y in loader:
            ...
            optimizer.step()
            ema.update_parameters(model)
        evaluate(ema)

    The first update_parameters() copies the values. Averages have the dtype of the parameters: keep
    those in float32, because a 16-bit average loses every change below half its spacing. With
    `use_buffers` the buffers are averaged too; else they are copied. `multi_avg_fn` gets all tensors
    of one device and dtype at once, as lists, where `avg_fn` gets one after the other.
    """

    module: M
    n_averaged: Tensor

    def __init__(self, model: M, device: Optional[Union[str, device]] = None,
                 avg_fn: Optional[AvgFn] = None, multi_avg_fn: Optional[MultiAvgFn] = None,
                 use_buffers: bool = False) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise ValueError("AveragedModel: expected avg_fn or multi_avg_fn, got both")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module.to(device)
        first = next(iter(self.module.parameters()), None)
        self.register_buffer("n_averaged", zeros((), dtype=int64,
                                                 device="cpu" if first is None else first.device))
        self.avg_fn = get_swa_avg_fn() if avg_fn is None else avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def _average(self, pairs: list[tuple[Tensor, Tensor]]) -> None:
        groups: dict[tuple[str, bool], list[tuple[Tensor, Tensor]]] = {}
        for target, value in pairs:
            is_double = target.dtype == float64 or not target.is_floating_point()
            groups.setdefault((str(target.device), is_double), []).append((target, value))
        for (place, is_double), group in groups.items():
            dtype = float64 if is_double else float32  # 16-bit values are averaged in float32
            count = self.n_averaged.to(place)
            current = [value.detach().to(place).to(dtype) for _, value in group]
            averages = self._averages([target.to(dtype) for target, _ in group], current, count)
            for (target, _), first, average in zip(group, current, averages):
                target.copy_(first.where(count == 0, average))

    def _averages(self, averaged: list[Tensor], current: list[Tensor],
                  count: Tensor) -> Iterable[Tensor]:
        if self.multi_avg_fn is None:
            return (self.avg_fn(*pair, count) for pair in zip(averaged, current))
        self.multi_avg_fn(averaged, current, count)
        return averaged

    @no_grad()
    def update_parameters(self, model: Module) -> None:
        """Adds the present values of the model to the averages.

        Raises ValueError, and changes nothing, for a model of another structure.
        """
        parameters = _pairs(list(self.module.parameters()), list(model.parameters()), "parameters")
        buffers = _pairs(list(self.module.buffers()), list(model.buffers()), "buffers")
        averaged = [(target.detach(), value) for target, value in parameters]
        if self.use_buffers:
            averaged += buffers
        self._average(averaged)
        for target, value in [] if self.use_buffers else buffers:
            target.copy_(value.to(target.device))
        self.n_averaged.add_(1)


@no_grad()
def update_bn(loader: Iterable[Any], model: Module,
              device: Optional[Union[str, device]] = None) -> None:
    """Computes the running statistics of every BatchNorm1d of `model` anew.

    Resets them, runs the model in training mode on each batch, and leaves the plain averages over
    all batches, whatever the momentum. Averaged weights need this, because no forward pass has seen
    their activations. A batch is a tensor, or a list or tuple whose first element is the input. Does
    nothing, and reads no batch, if the model has no BatchNorm1d with running statistics.
    """
    norms = [module for module in model.modules()
             if isinstance(module, BatchNorm1d) and module.running_mean is not None]
    if not norms:
        return
    modes = [(module, module.training) for module in model.modules()]
    for norm in norms:
        norm.running_mean.zero_()
        norm.running_var.fill_(1)
        norm.num_batches_tracked.zero_()
    before = plain_running_averages(True)
    try:
        model.train()
        for batch in loader:
            x = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(x if device is None else x.to(device))
    finally:
        plain_running_averages(before)
        for module, mode in modes:
            module.train(mode)
