"""Learning-rate schedules: call step() after each epoch or optimizer step."""

from .._halfgrad.optim.lr_scheduler import (ConstantLR, CosineAnnealingLR, ExponentialLR, LambdaLR,
                                            LinearLR, LRScheduler, MultiStepLR, OneCycleLR,
                                            SequentialLR, StepLR)
from .plateau import ReduceLROnPlateau
from .schedules import CosineAnnealingWarmRestarts, MultiplicativeLR, PolynomialLR

_LRScheduler = LRScheduler

__all__ = [
    "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "ExponentialLR", "LambdaLR",
    "LinearLR", "LRScheduler", "MultiplicativeLR", "MultiStepLR", "OneCycleLR", "PolynomialLR",
    "ReduceLROnPlateau", "SequentialLR", "StepLR",
]
