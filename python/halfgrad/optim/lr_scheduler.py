"""Learning-rate schedules: call step() after each epoch or optimizer step."""

from .._halfgrad.optim.lr_scheduler import (ChainedScheduler, ConstantLR, CosineAnnealingLR,
                                            CosineAnnealingWarmRestarts, CyclicLR, ExponentialLR,
                                            LambdaLR, LinearLR, LRScheduler, MultiplicativeLR,
                                            MultiStepLR, OneCycleLR, PolynomialLR, SequentialLR,
                                            StepLR)
from .plateau import ReduceLROnPlateau

_LRScheduler = LRScheduler

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR", "ExponentialLR", "LambdaLR", "LinearLR", "LRScheduler", "MultiplicativeLR",
    "MultiStepLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR",
]
