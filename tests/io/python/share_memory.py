"""Shares memory with NumPy or PyTorch in both directions, through Python's DLPack capsules.

    share_memory.py exchange.so numpy|torch      exits with 77 without the package
"""

import ctypes
import gc
import importlib
import sys
import weakref

SKIPPED = 77
try:
    package = importlib.import_module(sys.argv[2])
    package.zeros(1).__dlpack__(max_version=(1, 1))
except (ImportError, TypeError) as reason:  # TypeError: a package without max_version
    print(f"SKIPPED: no {sys.argv[2]} that supports DLPack 1: {reason}")
    sys.exit(SKIPPED)

halfgrad = ctypes.CDLL(sys.argv[1])
halfgrad.export_held.restype = ctypes.c_void_p
halfgrad.import_to_hold.argtypes = [ctypes.c_void_p]
halfgrad.import_to_hold.restype = ctypes.c_char_p
halfgrad.fill_held.argtypes = [ctypes.c_double]
halfgrad.sum_of_held.restype = ctypes.c_double
halfgrad.allocated.restype = ctypes.c_longlong

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
new_capsule.restype = ctypes.py_object
pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
pointer_in.argtypes = [ctypes.py_object, ctypes.c_char_p]
pointer_in.restype = ctypes.c_void_p
rename = ctypes.pythonapi.PyCapsule_SetName
rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
CAPSULE, USED = b"dltensor_versioned", b"used_dltensor_versioned"  # capsules keep the pointers


class Held:
    """The tensor that halfgrad holds, for from_dlpack()."""

    def __dlpack__(self, *, max_version, **_):
        assert max_version >= (1, 0), max_version
        return new_capsule(halfgrad.export_held(), CAPSULE, None)

    def __dlpack_device__(self):
        return (1, 0)


def hand_over(array):
    """Lets halfgrad hold the array; returns its error message, or None."""
    capsule = array.__dlpack__(max_version=(1, 1))
    error = halfgrad.import_to_hold(pointer_in(capsule, CAPSULE))
    rename(capsule, USED)
    return error


def expect(got, expected):
    assert got == expected, f"{dtype}: expected {expected}, got {got}"


before = halfgrad.allocated()
dtypes = ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8",
          "bool"]
for index, dtype in enumerate(dtypes):
    if not hasattr(package, dtype):
        print(f"{package.__name__} has no {dtype}")
        continue
    halfgrad.hold(index)
    view = package.from_dlpack(Held())
    expect(view.dtype, getattr(package, dtype))
    largest = 1 if dtype == "bool" else 5
    expect(view.tolist(), [[min(i, largest), min(i + 3, largest)] for i in range(3)])
    expected = halfgrad.sum_of_held() + 1
    view[0, 0] = 1
    expect(halfgrad.sum_of_held(), expected)
    halfgrad.fill_held(1)
    expect(view.tolist(), [[1, 1]] * 3)
    halfgrad.release()
    expect(view.tolist(), [[1, 1]] * 3)
    del view
    gc.collect()
    expect(halfgrad.allocated(), before)

    theirs = package.zeros((2, 3), dtype=getattr(package, dtype))
    expect(hand_over(theirs.T), None)
    theirs[1, 2] = 1
    expect(halfgrad.sum_of_held(), 1)
    halfgrad.fill_held(1)
    expect(theirs.tolist(), [[1, 1, 1]] * 2)
    alive = weakref.ref(theirs)
    del theirs
    expect(halfgrad.sum_of_held(), 6)
    halfgrad.release()
    gc.collect()
    expect(alive(), None)

dtype = "uint16"
error = hand_over(package.zeros(3, dtype=package.uint16))
assert b"from_dlpack: expected float64" in error, error
if package.__name__ == "numpy":
    fixed = package.zeros(3)
    fixed.flags.writeable = False
    error = hand_over(fixed)
    assert b"read-only" in error, error
print(f"memory shared with {package.__name__} {package.__version__}")
