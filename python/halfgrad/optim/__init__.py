"""Optimizers; schedules are in optim.lr_scheduler."""

from .._halfgrad.optim import SGD, Adam, AdamW, AsyncOptimizer, Optimizer, ParamGroup
from . import lr_scheduler

__all__ = ["SGD", "Adam", "AdamW", "AsyncOptimizer", "Optimizer", "ParamGroup", "lr_scheduler"]
