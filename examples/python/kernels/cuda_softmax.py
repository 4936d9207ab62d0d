"""Checks two CUDA kernels through ctypes: a right one, and one that writes one element a thread.

    nvcc -shared -Xcompiler -fPIC -cudart shared -lineinfo -gencode arch=compute_80,code=compute_80 \\
      examples/python/kernels/cuda_softmax.cu -o cuda_softmax.so
    python examples/python/kernels/cuda_softmax.py ./cuda_softmax.so                    # on a GPU
    halfgrad-emulate python examples/python/kernels/cuda_softmax.py ./cuda_softmax.so   # without one

Under halfgrad-emulate races and stray accesses are reported, too. It is slow: the sizes are small.
"""

import ctypes
import sys

import halfgrad


def kernel_of(function):
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int]

    def softmax(x, out):
        code = function(x.ctypes.data, out.ctypes.data, *x.shape)
        if code != 0:
            raise RuntimeError(f"CUDA error {code}")

    return softmax


if __name__ == "__main__":
    library = ctypes.CDLL(sys.argv[1])
    options = {"out": True, "dims": [(3, 1, 37), (2, 1, 300), (0, 1, 5)], "repeat": 2, "shrink": False}
    good = halfgrad.check(kernel_of(library.softmax_good), "softmax", **options)
    bad = halfgrad.check(kernel_of(library.softmax_bad), "softmax", **options)
    print(good, bad, sep="\n\n")
    sys.exit(not good.passed or bad.passed)
