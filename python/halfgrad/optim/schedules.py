"""Schedules that Python computes: each is a LambdaLR, so GradScaler and SequentialLR know it."""

import math
from typing import Callable

from .._halfgrad.optim import Optimizer
from .._halfgrad.optim.lr_scheduler import LambdaLR


class PolynomialLR(LambdaLR):
    """lr = base_lr * (1 - epoch / total_iters)^power, 0 from epoch total_iters on."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0,
                 last_epoch: int = -1) -> None:
        super().__init__(
            optimizer,
            lambda epoch: (1 - min(epoch, total_iters) / total_iters) ** power,  # type: ignore[no-any-return]
            last_epoch)


class MultiplicativeLR(LambdaLR):
    """lr *= lr_lambda(epoch) in every epoch from 1 on."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float],
                 last_epoch: int = -1) -> None:
        factors = [1.0]  # the products so far, by epoch

        def factor(epoch: int) -> float:
            while len(factors) <= epoch:
                factors.append(factors[-1] * lr_lambda(len(factors)))
            return factors[epoch]

        super().__init__(optimizer, factor, last_epoch)


class CosineAnnealingWarmRestarts(LambdaLR):
    """Cosine annealing from base_lr to eta_min in T_0 epochs, which restarts and then takes T_mult
    times as many epochs (Loshchilov and Hutter, 2017)."""

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0,
                 last_epoch: int = -1) -> None:
        if T_0 < 1 or T_mult < 1:
            raise ValueError("CosineAnnealingWarmRestarts: expected T_0 and T_mult of at least 1, "
                             f"got {T_0} and {T_mult}")

        def share(epoch: int) -> float:
            length = T_0
            while epoch >= length:
                epoch, length = epoch - length, length * T_mult
            return (1 + math.cos(math.pi * epoch / length)) / 2

        def factor(base_lr: float) -> Callable[[int], float]:
            return lambda epoch: (eta_min + (base_lr - eta_min) * share(epoch)) / base_lr

        rates = [float(group.get("initial_lr", group["lr"])) for group in optimizer.param_groups]
        super().__init__(optimizer, [factor(rate) for rate in rates], last_epoch)
