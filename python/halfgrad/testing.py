"""Comparison of results with expected ones."""

from typing import Any, Mapping, Optional

from ._halfgrad import Tensor, dtype, isclose
from .extras import as_tensor

__all__ = ["assert_close"]

# PyTorch's tolerances.
_TOLERANCES = {dtype.float16: (1e-3, 1e-5), dtype.bfloat16: (1.6e-2, 1e-5),
               dtype.float32: (1.3e-6, 1e-5), dtype.float64: (1e-7, 1e-7)}


def assert_close(actual: Any, expected: Any, *, rtol: Optional[float] = None,
                 atol: Optional[float] = None, equal_nan: bool = False, check_dtype: bool = True,
                 check_device: bool = True, msg: Optional[str] = None) -> None:
    """Raises AssertionError unless |actual - expected| <= atol + rtol |expected| for all elements
    of tensors, numbers, or sequences and mappings of them.

    The tolerances are those of PyTorch for the coarser dtype of the two, unless both are given.
    """
    if (rtol is None) != (atol is None):
        raise ValueError("assert_close: expected rtol and atol or neither, got one of them")
    options = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan, "check_dtype": check_dtype,
               "check_device": check_device, "msg": msg}
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        _require(actual.keys() == expected.keys(), f"keys {list(expected)}", list(actual), msg)
        for key in expected:
            assert_close(actual[key], expected[key], **options)  # type: ignore[arg-type]
        return
    if isinstance(actual, (list, tuple)) and isinstance(expected, (list, tuple)):
        _require(len(actual) == len(expected), f"{len(expected)} elements", len(actual), msg)
        for one, other in zip(actual, expected):
            assert_close(one, other, **options)  # type: ignore[arg-type]
        return
    _compare(as_tensor(actual), as_tensor(expected), options)


def _require(condition: bool, wanted: Any, found: Any, msg: Optional[str]) -> None:
    if not condition:
        raise AssertionError(msg or f"assert_close: expected {wanted}, got {found}")


def _compare(actual: Tensor, expected: Tensor, options: dict[str, Any]) -> None:
    msg = options["msg"]
    _require(actual.shape == expected.shape, f"shape {list(expected.shape)}", list(actual.shape), msg)
    if options["check_device"]:
        _require(actual.device == expected.device, expected.device, actual.device, msg)
    if options["check_dtype"]:
        _require(actual.dtype == expected.dtype, expected.dtype, actual.dtype, msg)
    bounds = [_TOLERANCES.get(tensor.dtype, (0.0, 0.0)) for tensor in (actual, expected)]
    rtol, atol = ((max(pair) for pair in zip(*bounds)) if options["rtol"] is None
                  else (options["rtol"], options["atol"]))
    one = actual.detach().to(expected.device).double()
    other = expected.detach().double()
    wrong = ~isclose(one, other, rtol, atol, options["equal_nan"])
    count = int(wrong.sum())
    if count > 0:
        place = tuple(wrong.nonzero()[0].tolist())
        _require(False, f"{other[place].item()} within rtol {rtol:g}, atol {atol:g} at {place}",
                 f"{one[place].item()}; {count} of {wrong.numel()} elements differ", msg)
