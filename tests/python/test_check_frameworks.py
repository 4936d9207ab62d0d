"""halfgrad.check() with arrays of PyTorch, JAX and halfgrad itself."""

import pathlib
import subprocess
import sys

import pytest

import halfgrad

FEW = [(3, 1, 37), (2, 1, 5)]
LAYOUTS = ["contiguous", "misaligned", "page_end", "padded_rows", "every_second", "transposed"]


def test_halfgrad():
    halfgrad.check(lambda x: x.softmax(1), "softmax", like="halfgrad", dtype="bfloat16").assert_ok()
    halfgrad.check(lambda x, y: x @ y, "mm", like="halfgrad", dims=[(3, 5, 37)], layouts=LAYOUTS).assert_ok()
    wrong = halfgrad.check(lambda x: x.softmax(0), "softmax", like="halfgrad", dims=FEW)
    assert wrong.findings[0].fault == "wrong value"


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_torch(dtype):
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)  # threads do not live on in a forked process
    options = {"like": "torch", "dtype": dtype, "dims": FEW, "layouts": LAYOUTS}
    halfgrad.check(lambda x: torch.softmax(x, 1), "softmax", **options).assert_ok()
    halfgrad.check(lambda x, out: torch.softmax(x, 1, out=out), "softmax", out=True, isolate=True,
                   **options).assert_ok()
    halfgrad.check(lambda x, index: torch.gather(x, 1, index), "gather", **options).assert_ok()
    wrong = halfgrad.check(lambda x: torch.softmax(x, 0), "softmax", **options)
    assert wrong.findings[0].fault == "wrong value"
    wrong = halfgrad.check(lambda x: torch.softmax(x, 1).double(), "softmax", **options)
    assert "float64; expected" in wrong.findings[0].message
    case = next(halfgrad.cases("softmax", dtype=dtype, like="torch"))
    case.judge(torch.softmax(case.inputs[0], 1)).assert_ok()


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_jax(dtype):
    jax = pytest.importorskip("jax")

    def softmax(x):
        return jax.nn.softmax(x.astype("float32"), axis=1).astype(x.dtype)

    options = {"like": "jax", "dtype": dtype, "dims": FEW, "flush_subnormals": True}
    halfgrad.check(softmax, "softmax", **options).assert_ok()
    assert not halfgrad.check(lambda x: softmax(x) * 2, "softmax", **options)


def test_the_example_for_pytorch_ops():
    pytest.importorskip("torch")
    script = pathlib.Path(__file__).parents[2] / "examples/python/kernels/pytorch_ops.py"
    lines = subprocess.run([sys.executable, script, "exp", "prod"], check=True, text=True,
                           capture_output=True).stdout.splitlines()
    assert [line.split()[2] == "passed" for line in lines[:8]] == 6 * [True] + 2 * [False]
    assert lines[8].endswith("2 alarms in 8 checks")
