"""Writes formats/: files of NumPy and of safetensors' Python package with the same elements.

    python3 -m venv env && env/bin/pip install numpy==2.4.6 safetensors==0.8.0
    env/bin/python formats.py
"""

import pathlib

import numpy as np
import safetensors

folder = pathlib.Path(__file__).parent / "formats"
folder.mkdir(exist_ok=True)

# 0, -1, the smallest subnormal, the largest finite value, infinity, a NaN with a payload.
bits = {
    "f64": ("<f8", "<u8", [0, 0xBFF0000000000000, 1, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF4000000001234]),
    "f32": ("<f4", "<u4", [0, 0xBF800000, 1, 0x7F7FFFFF, 0x7F800000, 0x7FA01234]),
    "f16": ("<f2", "<u2", [0, 0xBC00, 1, 0x7BFF, 0x7C00, 0x7D23]),
    "bf16": (None, "<u2", [0, 0xBF80, 1, 0x7F7F, 0x7F80, 0x7FA3]),
    "i64": ("<i8", "<i8", [0, -1, 1, 2**63 - 1, -(2**63), 42]),
    "i32": ("<i4", "<i4", [0, -1, 1, 2**31 - 1, -(2**31), 42]),
    "i16": ("<i2", "<i2", [0, -1, 1, 2**15 - 1, -(2**15), 42]),
    "i8": ("|i1", "|i1", [0, -1, 1, 2**7 - 1, -(2**7), 42]),
    "u8": ("|u1", "|u1", [0, 255, 1, 127, 128, 42]),
    "bool": ("|b1", "|u1", [0, 1, 1, 0, 0, 1]),
}
names = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16",
         "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8", "u8": "uint8", "bool": "bool"}
raw = {name: np.array(values, unsigned).reshape(2, 3) for name, (_, unsigned, values) in bits.items()}
arrays = {name: raw[name].view(dtype) for name, (dtype, _, _) in bits.items() if dtype}

for name, array in arrays.items():
    np.save(folder / f"{name}.npy", array)
np.save(folder / "scalar.npy", np.float32(1.5))
np.save(folder / "empty.npy", np.zeros((0, 3), np.float32))
np.save(folder / "vector.npy", np.arange(5, dtype=np.int64))
np.save(folder / "fortran.npy", np.asfortranarray(arrays["f32"]))
np.save(folder / "big_endian.npy", arrays["f32"].astype(">f4").view(">f4"))
for version in (2, 3):
    with open(folder / f"version{version}.npy", "wb") as file:
        np.lib.format.write_array(file, arrays["f32"], version=(version, 0))
np.savez(folder / "stored.npz", **arrays)
np.savez_compressed(folder / "deflated.npz", **arrays, zeros=np.zeros(1000))

numbers = {name: (names[name], array) for name, array in raw.items()}
numbers |= {"scalar": ("float32", np.array(1.5, np.float32)),
            "empty": ("float32", np.zeros((0, 3), np.float32)),
            'a "name"\n\u00e9\u0001\\': ("uint8", np.array([7], np.uint8))}
specs = {name: safetensors.TensorSpec(dtype=dtype, shape=list(array.shape),
                                      data_ptr=array.ctypes.data, data_len=array.nbytes)
         for name, (dtype, array) in numbers.items()}
metadata = {"made by": f"safetensors {safetensors.__version__} \u00e9/\t"}
(folder / "all.safetensors").write_bytes(safetensors.serialize(specs, metadata))
(folder / "none.safetensors").write_bytes(safetensors.serialize({}, None))

# The file that save_npz wrote for the same arrays.
with np.load(folder / "halfgrad.npz") as ours:
    assert ours.keys() == arrays.keys()
    for name, array in arrays.items():
        assert (ours[name].dtype, ours[name].shape) == (array.dtype, array.shape), name
        assert ours[name].tobytes() == array.tobytes(), name
