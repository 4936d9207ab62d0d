"""Learning-rate schedules: call step() after each epoch or optimizer step."""

from .._halfgrad.optim.lr_scheduler import (ConstantLR, CosineAnnealingLR, ExponentialLR, LambdaLR,
                                            LinearLR, LRScheduler, MultiStepLR, OneCycleLR,
                                            SequentialLR, StepLR)
from .plateau import ReduceLROnPlateau

__all__ = [
    "ConstantLR", "CosineAnnealingLR", "ExponentialLR", "LambdaLR", "LinearLR", "LRScheduler",
    "MultiStepLR", "OneCycleLR", "ReduceLROnPlateau", "SequentialLR", "StepLR",
]
