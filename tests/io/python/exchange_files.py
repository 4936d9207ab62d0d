"""Checks that files of NumPy or safetensors keep their bits when halfgrad reads and writes them.

    exchange_files.py exchange.so numpy|safetensors folder    exits with 77 without the package
"""

import ctypes
import importlib
import pathlib
import sys
import tempfile

SKIPPED = 77
try:
    package = importlib.import_module(sys.argv[2])
except ImportError as reason:
    print(f"SKIPPED: {reason}")
    sys.exit(SKIPPED)

halfgrad = ctypes.CDLL(sys.argv[1])
halfgrad.rewrite.restype = ctypes.c_char_p


def rewrite(source, target):
    error = halfgrad.rewrite(str(source).encode(), str(target).encode())
    assert error is None, error.decode()


def numpy_contents(path):
    loaded = package.load(path, allow_pickle=False)
    arrays = loaded if path.suffix == ".npz" else {"": loaded}
    contents = {}
    for name, array in arrays.items():
        native = array.astype(array.dtype.newbyteorder("="), order="C")
        contents[name] = (native.dtype, native.shape, native.tobytes())
    return contents


def safetensors_contents(path):
    return dict(package.deserialize(path.read_bytes()))


contents, suffixes = {
    "numpy": (numpy_contents, [".npy", ".npz"]),
    "safetensors": (safetensors_contents, [".safetensors"]),
}[package.__name__]
files = [file for file in pathlib.Path(sys.argv[3]).iterdir() if file.suffix in suffixes]
assert {file.suffix for file in files} == set(suffixes), files
with tempfile.TemporaryDirectory() as folder:
    for file in files:
        first, second = (pathlib.Path(folder) / (name + file.suffix) for name in ("1", "2"))
        rewrite(file, first)
        assert contents(first) == contents(file), f"{package.__name__} reads another {file.name}"
        rewrite(first, second)
        assert first.read_bytes() == second.read_bytes(), file.name
print(f"{len(files)} files exchanged with {package.__name__} {package.__version__}")
