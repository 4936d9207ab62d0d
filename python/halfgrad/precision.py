"""Switches of PyTorch for exactness and determinism."""

from ._halfgrad import cuda as _cpp

__all__ = [
    "are_deterministic_algorithms_enabled", "get_float32_matmul_precision",
    "set_float32_matmul_precision", "use_deterministic_algorithms",
]


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Changes nothing: all algorithms are deterministic."""


def are_deterministic_algorithms_enabled() -> bool:
    """True."""
    return True


def set_float32_matmul_precision(precision: str) -> None:
    """"highest" computes products of float32 exactly; "high" and "medium" let a GPU round their
    operands to TF32."""
    if precision not in ("highest", "high", "medium"):
        raise ValueError("set_float32_matmul_precision: expected \"highest\", \"high\" or "
                         f"\"medium\", got \"{precision}\"")
    _cpp.set_allow_tf32(precision != "highest")


def get_float32_matmul_precision() -> str:
    """"high" if a GPU may round to TF32, else "highest"."""
    return "high" if _cpp.allow_tf32() else "highest"
