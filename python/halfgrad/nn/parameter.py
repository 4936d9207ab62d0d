"""Parameters and buffers under the names of torch.nn.parameter."""

from .registration import Buffer, Parameter

__all__ = ["Buffer", "Parameter"]
