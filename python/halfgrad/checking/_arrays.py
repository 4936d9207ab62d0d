"""Arrays of other packages that share the memory of halfgrad's tensors.

NumPy and the other packages are imported when they are needed: halfgrad is built without them.
"""

import importlib.util

from .._halfgrad import _checking as checking, from_dlpack
from ._triton import TritonArray

LIKES = ("numpy", "torch", "jax", "cupy", "triton", "halfgrad")


def dtype_name(dtype):
    """The name of a dtype of any package: "float16" for "fp16", "half", numpy.float16, torch.float16."""
    if dtype is None:
        return None
    import numpy
    if isinstance(dtype, type) and issubclass(dtype, numpy.generic):
        name = numpy.dtype(dtype).name
    else:
        name = getattr(dtype, "name", None) or str(dtype)
    name = str(name).rsplit(".", 1)[-1]
    short = {"fp64": "float64", "double": "float64", "fp32": "float32", "float": "float32",
             "fp16": "float16", "half": "float16", "bf16": "bfloat16", "bool_": "bool"}
    return short.get(name, name)


def _bfloat16():
    """NumPy's dtype for bfloat16: that of ml_dtypes if it is installed, else the bits as uint16."""
    import numpy
    if importlib.util.find_spec("ml_dtypes") is None:
        return numpy.dtype(numpy.uint16)
    import ml_dtypes  # type: ignore[import-not-found]
    return numpy.dtype(ml_dtypes.bfloat16)


def _numpy(tensor):
    array = checking.numpy_bits(tensor)
    return array.view(_bfloat16()) if str(tensor.dtype).endswith("bfloat16") else array


def present(tensor, like):
    """The tensor as an array of the package `like`, which shares its memory (JAX copies misaligned memory)."""
    if like == "numpy":
        return _numpy(tensor)
    if like == "triton":
        return TritonArray(checking.numpy_bits(tensor))
    if like == "torch":
        import torch  # type: ignore[import-not-found]
        return torch.from_dlpack(tensor)
    if like == "jax":
        import jax  # type: ignore[import-not-found]
        return jax.dlpack.from_dlpack(tensor)
    if like == "cupy":
        import cupy  # type: ignore[import-not-found]
        return cupy.from_dlpack(tensor)
    return tensor


def _expect(shape, dtype, output, given):
    expected = tuple(output.shape), dtype_name(output.dtype)
    if (tuple(shape), dtype_name(dtype)) != expected:
        raise TypeError(f"{given} an array of shape {tuple(shape)}, {dtype_name(dtype)}; "
                        f"expected {expected[0]}, {expected[1]}")


def _store_numpy(result, output):
    import numpy
    array, into = numpy.asarray(result), _numpy(output)
    if into.dtype != array.dtype and into.dtype.name == "bfloat16" and array.dtype == numpy.uint16:
        array = array.view(into.dtype)
    name = "bfloat16" if into.dtype == array.dtype == numpy.uint16 else array.dtype
    _expect(array.shape, name, output, "the kernel returned")
    into[...] = array


def store(result, output, like):
    """Copies an array that a kernel returned into the output. Raises TypeError for another shape or dtype."""
    if result is None:
        raise TypeError("the kernel returned None; expected an array, or call check() with out=True")
    if like in ("numpy", "jax"):
        return _store_numpy(result, output)
    if like == "torch":
        result = result.detach()
    _expect(result.shape, result.dtype, output, "the kernel returned")
    if like == "halfgrad":
        checking.copy(output, result)
    elif like == "torch":
        present(output, like).copy_(result)
    else:
        present(output, like)[...] = result


def store_all(results, outputs, like):
    """Copies what a kernel returned into its outputs: an array, or a tuple of several."""
    if len(outputs) == 1:
        return store(results, outputs[0], like)
    if not isinstance(results, (tuple, list)) or len(results) != len(outputs):
        got = len(results) if isinstance(results, (tuple, list)) else type(results).__name__
        raise TypeError(f"the kernel returned {got}; expected a tuple of {len(outputs)} arrays")
    for result, output in zip(results, outputs):
        store(result, output, like)


def tensor_of_output(array, dtype):
    """A tensor with the elements of an array of any package; NumPy's uint16 are bits of bfloat16."""
    import numpy
    if isinstance(array, (numpy.ndarray, numpy.generic)):
        array = numpy.asarray(array)
        if dtype == "bfloat16" and array.dtype.itemsize == 2 and array.dtype.kind != "f":
            return checking.from_bits(numpy.ascontiguousarray(array).view(numpy.uint16))
        return from_dlpack(numpy.ascontiguousarray(array).copy())
    if hasattr(array, "detach"):
        array = array.detach()
    return from_dlpack(array, copy=True).cpu()
