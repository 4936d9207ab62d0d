"""Modules: layers, losses, and the base class of your own."""

from .._halfgrad.nn import (ELU, GELU, BatchNorm1d, Dropout, Embedding, Flatten, GroupNorm,
                            Identity, LayerNorm, LeakyReLU, Linear, LogSoftmax, Module, ReLU, RMSNorm,
                            Sigmoid, SiLU, Softmax, Softplus, Tanh)
from . import functional, init, utils
from .containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .fused_mlp import FusedMLP
from .losses import (BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, HuberLoss, KLDivLoss, L1Loss,
                     MSELoss, NLLLoss, SmoothL1Loss)
from .module import Buffer, Parameter

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "BatchNorm1d", "Buffer", "CrossEntropyLoss", "Dropout", "ELU",
    "Embedding", "Flatten", "FusedMLP", "GELU", "GroupNorm", "HuberLoss", "Identity", "KLDivLoss", "L1Loss",
    "LayerNorm", "LeakyReLU", "Linear", "LogSoftmax", "MSELoss", "Module", "ModuleDict",
    "ModuleList", "NLLLoss", "Parameter", "ParameterDict", "ParameterList", "RMSNorm", "ReLU",
    "Sequential", "SiLU", "Sigmoid", "SmoothL1Loss", "Softmax", "Softplus", "Tanh", "functional",
    "init", "utils",
]
