"""Optimizers; schedules are in optim.lr_scheduler."""

from .._halfgrad.optim import (LAMB, LBFGS, SGD, Adadelta, Adagrad, Adam, Adamax, AdamW,
                               AsyncOptimizer, Lion, Muon, NAdam, Optimizer, ParamGroup, RAdam,
                               RMSprop)
from . import lr_scheduler, swa_utils

__all__ = ["LAMB", "LBFGS", "SGD", "Adadelta", "Adagrad", "Adam", "Adamax", "AdamW",
           "AsyncOptimizer", "Lion", "Muon", "NAdam", "Optimizer", "ParamGroup", "RAdam", "RMSprop",
           "lr_scheduler", "swa_utils"]
