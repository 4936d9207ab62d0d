"""A multilayer perceptron that is computed as one op."""

from typing import Optional, Sequence

from .._halfgrad import Tensor, device as Device, dtype as DType, mlp, mlp_cross_entropy
from .._halfgrad.nn import Linear, Module


class FusedMLP(Module):
    """Linear layers with an activation between them, computed as one op: nn.functional.mlp().

    FusedMLP([64, 128, 10]) computes what Sequential(Linear(64, 128), ReLU(), Linear(128, 10))
    computes, with the same initial weights and the same state dict. activation: "relu", "gelu", or
    "gelu_tanh", which is GELU("tanh").
    """

    def __init__(self, sizes: Sequence[int], bias: bool = True, device: Optional[Device] = None,
                 dtype: Optional[DType] = None, activation: str = "relu"):
        super().__init__()
        self._activation = activation
        if len(sizes) < 2:
            raise ValueError("FusedMLP: expected the sizes of an input and an output, got "
                             f"{len(sizes)} sizes")
        for i, (features, next_features) in enumerate(zip(sizes, sizes[1:])):
            # The names in a Sequential, where every second module is an activation.
            self.add_module(str(2 * i), Linear(features, next_features, bias, device, dtype))

    def forward(self, input: Tensor) -> Tensor:
        weights, biases = self._operands()
        return mlp(input, weights, biases, self._activation)

    def cross_entropy(self, input: Tensor, target: Tensor) -> Tensor:
        """The mean cross entropy of the outputs and int64 classes, without storing the outputs.

        It has the bits of cross_entropy(model(input), target), and a training step with it reads the
        batch once: nn.functional.mlp_cross_entropy().
        """
        weights, biases = self._operands()
        return mlp_cross_entropy(input, weights, biases, target, self._activation)

    def _operands(self):
        layers = list(self.children())
        return [layer.weight for layer in layers], [layer.bias for layer in layers]
