"""DLPack both ways, and NumPy."""

import gc

import numpy as np
import pytest

import halfgrad as hg


def test_numpy_shares_memory_and_keeps_it():
    x = hg.zeros(2, 3)
    array = x.numpy()
    array[0, 1] = 5
    assert x[0, 1].item() == 5
    del x
    gc.collect()
    assert array[0, 1] == 5


def test_a_transposed_tensor_keeps_its_strides():
    x = hg.arange(6).reshape(2, 3).t()
    array = x.numpy()
    assert array.strides == (8, 24) and np.array_equal(array, np.arange(6).reshape(2, 3).T)


def test_numpy_functions_take_tensors():
    x = hg.tensor([1.0, 2.0])
    assert np.array_equal(np.asarray(x), [1, 2])
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    assert np.allclose(x, [1, 2])


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.int32], ids=lambda d: d.__name__)
def test_small_integers_are_shared_without_loss(dtype):
    limits = np.iinfo(dtype)
    array = np.array([[limits.min, limits.max], [0, 1]], dtype).T
    x = hg.from_numpy(array)
    assert x.dtype == getattr(hg, dtype.__name__) and x.tolist() == array.tolist()
    assert x.numpy().dtype == dtype and np.array_equal(x.numpy(), array)
    assert np.array_equal(np.from_dlpack(hg.tensor(array)), array)
    x[1, 1] = 7
    assert array[1, 1] == 7
    info = hg.iinfo(x.dtype)
    assert (info.min, info.max, info.bits) == (limits.min, limits.max, limits.bits)


def test_dlpack_round_trip():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = hg.from_dlpack(array)
    assert x.__dlpack_device__() == (1, 0)
    back = np.from_dlpack(x)
    back[0, 0] = 9
    assert array[0, 0] == 9
    copied = hg.from_dlpack(array, copy=True)
    copied.fill_(0)
    assert array[0, 0] == 9


@pytest.mark.parametrize("max_version, name", [(None, "dltensor"), ((1, 0), "dltensor_versioned")])
def test_both_capsules(max_version, name):
    x = hg.ones(2)
    capsule = x.__dlpack__(max_version=max_version)
    assert f'"{name}"' in repr(capsule)
    y = hg.from_dlpack(capsule)
    y[0] = 4
    assert x[0].item() == 4
    assert "used" in repr(capsule)
    with pytest.raises(ValueError, match="an unused DLPack capsule"):
        hg.from_dlpack(capsule)


def test_an_unused_capsule_releases_its_tensor():
    for _ in range(100):
        hg.ones(1000).__dlpack__()
        hg.ones(1000).__dlpack__(max_version=(1, 1))


def test_read_only_memory_must_be_copied():
    array = np.ones(3, np.float32)
    array.flags.writeable = False
    with pytest.raises((RuntimeError, BufferError)):
        hg.from_dlpack(array)
    assert hg.tensor(array).tolist() == [1, 1, 1]


def test_what_numpy_lacks_is_refused():
    with pytest.raises(TypeError, match="bfloat16; convert with float"):
        hg.ones(2, dtype=hg.bfloat16).numpy()
    with pytest.raises(RuntimeError, match="detach"):
        hg.ones(2, requires_grad=True).numpy()
    with pytest.raises(ValueError, match="to_dlpack: .*detach"):
        hg.ones(2, requires_grad=True).__dlpack__()
    with pytest.raises(TypeError, match="expected an object with __dlpack__, got one of type int"):
        hg.from_dlpack(3)
    with pytest.raises(hg.io.FormatError, match="from_dlpack: expected float64, 32 or 16"):
        hg.from_numpy(np.zeros(3, np.uint16))


def test_exchange_with_pytorch():
    torch = pytest.importorskip("torch")
    x = hg.tensor([1.0, 2.0], dtype=hg.bfloat16)
    y = torch.from_dlpack(x)
    assert y.dtype == torch.bfloat16 and y.tolist() == [1, 2]
    assert hg.from_dlpack(torch.ones(3)).tolist() == [1, 1, 1]
