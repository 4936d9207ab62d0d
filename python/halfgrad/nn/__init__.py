"""Modules: layers, losses, and the base class of your own."""

from .._halfgrad.nn import (ELU, GELU, BatchNorm1d, Dropout, Embedding, Flatten, GroupNorm,
                            Identity, LayerNorm, LeakyReLU, Linear, LogSoftmax, Module, ReLU,
                            RMSNorm, Sigmoid, SiLU, Softmax, Softplus, Tanh)
from . import functional, init, parameter, utils
from .activations import (CELU, GLU, SELU, AlphaDropout, CosineSimilarity, Dropout1d, Hardshrink,
                          Hardsigmoid, Hardswish, Hardtanh, LogSigmoid, Mish, PairwiseDistance,
                          ReLU6, RReLU, Softmin, Softshrink, Softsign, Tanhshrink, Threshold)
from .attention import MultiheadAttention
from .containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .fused_mlp import FusedMLP
from .layers import Bilinear, ConstantPad1d, PReLU, Unflatten, ZeroPad1d
from .losses import (BCELoss, BCEWithLogitsLoss, CosineEmbeddingLoss, CrossEntropyLoss,
                     GaussianNLLLoss, HingeEmbeddingLoss, HuberLoss, KLDivLoss, L1Loss,
                     MarginRankingLoss, MSELoss, MultiLabelMarginLoss, MultiLabelSoftMarginLoss,
                     MultiMarginLoss, NLLLoss, PoissonNLLLoss, SmoothL1Loss, SoftMarginLoss,
                     TripletMarginLoss, TripletMarginWithDistanceLoss)
from .module import Buffer, Parameter

__all__ = [
    "AlphaDropout", "BCELoss", "BCEWithLogitsLoss", "BatchNorm1d", "Bilinear", "Buffer", "CELU",
    "ConstantPad1d", "CosineEmbeddingLoss", "CosineSimilarity", "CrossEntropyLoss", "Dropout",
    "Dropout1d", "ELU", "Embedding", "Flatten", "FusedMLP", "GELU", "GLU", "GaussianNLLLoss",
    "GroupNorm", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "HingeEmbeddingLoss",
    "HuberLoss", "Identity", "KLDivLoss", "L1Loss", "LayerNorm", "LeakyReLU", "Linear",
    "LogSigmoid", "LogSoftmax", "MSELoss", "MarginRankingLoss", "Mish", "Module", "ModuleDict",
    "ModuleList", "MultiheadAttention", "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss",
    "PReLU", "PairwiseDistance", "Parameter", "ParameterDict", "ParameterList", "PoissonNLLLoss",
    "RMSNorm", "RReLU", "ReLU", "ReLU6", "SELU", "Sequential", "SiLU", "Sigmoid", "SmoothL1Loss",
    "SoftMarginLoss", "Softmax", "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh",
    "Tanhshrink", "Threshold", "TripletMarginLoss", "TripletMarginWithDistanceLoss", "Unflatten",
    "ZeroPad1d", "functional", "init", "parameter", "utils",
]
