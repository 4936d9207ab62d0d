"""Hooks of a module that see its gradients.

    inputs ── gate ── forward ── gate ── outputs

A gate is the identity of several tensors. Its backward gets all their gradients at once and calls
the hooks.
"""

from typing import Any, Callable, Optional

from .._halfgrad import Tensor
from .._halfgrad.nn import Module
from ..autograd import Function, is_grad_enabled

Gradients = tuple[Optional[Tensor], ...]


class _Gate(Function):
    @staticmethod
    def forward(ctx: Any, function: Callable[[Gradients], Gradients], *tensors: Tensor) -> Any:
        ctx.function = function
        ctx.set_materialize_grads(False)
        return tuple(tensor.view_as(tensor) for tensor in tensors)

    @staticmethod
    def backward(ctx: Any, *gradients: Optional[Tensor]) -> Any:
        return (None, *ctx.function(gradients))


def _gated(values: tuple[Any, ...], function: Callable[[Gradients], Gradients]) -> Any:
    """The values, of which those that need a gradient passed a gate, and their positions."""
    places = [i for i, value in enumerate(values)
              if isinstance(value, Tensor) and value.requires_grad]
    if not places or not is_grad_enabled():
        return values, []
    passed = dict(zip(places, _Gate.apply(function, *(values[i] for i in places))))
    return tuple(passed.get(i, value) for i, value in enumerate(values)), places


def _spread(gradients: Gradients, places: list[int], count: int) -> Gradients:
    """The gradients at their positions, None elsewhere."""
    found = dict(zip(places, gradients))
    return tuple(found.get(i) for i in range(count))


class Watch:
    """The backward hooks of one module during one call of forward()."""

    def __init__(self, module: Module, pre_hooks: list[Any], hooks: list[Any]) -> None:
        self._module, self._pre_hooks, self._hooks = module, pre_hooks, hooks
        self._grad_outputs: Gradients = ()
        self._input_places: list[int] = []
        self._output_places: list[int] = []
        self._input_count = self._output_count = 0

    def inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        self._input_count = len(args)
        passed, self._input_places = _gated(args, self._call_hooks) if self._hooks else (args, [])
        return passed  # type: ignore[no-any-return]

    def outputs(self, output: Any) -> Any:
        is_single = isinstance(output, Tensor)
        values = (output,) if is_single else output
        if not isinstance(values, tuple):
            return output
        self._output_count = len(values)
        passed, self._output_places = _gated(values, self._call_pre_hooks)
        return passed[0] if is_single else passed

    def _replaced(self, result: Any, gradients: Gradients) -> Gradients:
        if result is None:
            return gradients
        changed = (result,) if isinstance(result, Tensor) else tuple(result)
        if len(changed) != len(gradients):
            raise ValueError(f"{type(self._module).__name__}: expected {len(gradients)} gradients "
                             f"from the backward hook, got {len(changed)}")
        return changed

    def _call_pre_hooks(self, gradients: Gradients) -> Gradients:
        outputs = _spread(gradients, self._output_places, self._output_count)
        for hook in self._pre_hooks:
            outputs = self._replaced(hook(self._module, outputs), outputs)
        self._grad_outputs = outputs
        if not self._input_places:  # no gate of inputs will call the hooks
            for hook in self._hooks:
                hook(self._module, (None,) * self._input_count, outputs)
        return tuple(outputs[i] for i in self._output_places)

    def _call_hooks(self, gradients: Gradients) -> Gradients:
        inputs = _spread(gradients, self._input_places, self._input_count)
        for hook in self._hooks:
            inputs = self._replaced(hook(self._module, inputs, self._grad_outputs), inputs)
        return tuple(inputs[i] for i in self._input_places)
