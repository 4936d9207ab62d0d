"""Tensors: creation, properties, conversions and printing."""

import numpy as np
import pytest

import halfgrad as hg

NUMPY_DTYPES = {
    hg.float64: np.float64, hg.float32: np.float32, hg.float16: np.float16, hg.int64: np.int64,
    hg.int32: np.int32, hg.int16: np.int16, hg.int8: np.int8, hg.uint8: np.uint8, hg.bool: np.bool_,
}


def test_lists_become_float32_int64_or_bool():
    assert hg.tensor([1.5, 2]).dtype == hg.float32
    assert hg.tensor([1, 2]).dtype == hg.int64
    assert hg.tensor([True, False]).dtype == hg.bool
    assert hg.tensor(2.5).shape == ()
    assert hg.tensor([[1, 2, 3], [4, 5, 6]]).shape == (2, 3)
    assert hg.tensor([]).shape == (0,)
    assert hg.tensor([hg.tensor(1.0), np.float32(2)]).tolist() == [1.0, 2.0]


def test_ragged_lists_and_texts_are_refused():
    with pytest.raises(ValueError, match="expected lists of one shape"):
        hg.tensor([[1, 2], [3]])
    with pytest.raises(TypeError, match="tensor: expected scalars, got an object of type str"):
        hg.tensor(["a"])


@pytest.mark.parametrize("dtype", NUMPY_DTYPES, ids=str)
def test_arrays_keep_their_dtype_and_values(dtype):
    array = np.array([[0, 1, 2], [3, 100, 1]]).astype(NUMPY_DTYPES[dtype])
    tensor = hg.tensor(array)
    assert tensor.dtype == dtype
    assert tensor.tolist() == array.tolist()
    assert tensor.numpy().dtype == array.dtype
    assert np.array_equal(tensor.numpy(), array)


def test_tensor_copies_and_from_numpy_shares():
    array = np.zeros(3, np.float32)
    copied, shared = hg.tensor(array), hg.from_numpy(array)
    array[0] = 7
    assert copied[0].item() == 0 and shared[0].item() == 7


def test_tensor_takes_arrays_of_any_layout():
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    array.flags.writeable = False
    for view in (array, array[::-1], array.T, array[:, ::2]):
        assert np.array_equal(hg.tensor(view).numpy(), view)


def test_properties():
    x = hg.zeros(2, 3, dtype=hg.float16, requires_grad=True)
    assert (x.shape, x.ndim, x.numel(), x.size(1), x.stride()) == ((2, 3), 2, 6, 3, (3, 1))
    assert x.dtype == hg.float16 and x.itemsize == 2 and x.nbytes == 12
    assert str(x.device) == "cpu" and x.device == hg.device("cpu")
    assert x.requires_grad and x.is_leaf and x.grad is None and x.grad_fn is None
    assert (x * 2).grad_fn == "mul"
    assert len(x) == 2 and len(list(x)) == 2


def test_creation():
    assert hg.ones((2, 2)).tolist() == [[1, 1], [1, 1]]
    assert hg.full((2,), 3).dtype == hg.int64
    assert hg.arange(3).tolist() == [0, 1, 2]
    assert hg.arange(1, 2, 0.5).tolist() == [1, 1.5]
    assert hg.linspace(0, 1, 3).tolist() == [0, 0.5, 1]
    assert hg.eye(2).tolist() == [[1, 0], [0, 1]]
    assert hg.zeros_like(hg.ones(2, dtype=hg.half)).dtype == hg.half
    assert hg.randn(3, 4).shape == (3, 4)
    assert sorted(hg.randperm(5).tolist()) == [0, 1, 2, 3, 4]


def test_random_tensors_follow_the_seed():
    hg.manual_seed(5)
    first = hg.randn(4)
    state = hg.default_generator().get_state()
    second = hg.rand(4)
    hg.manual_seed(5)
    assert hg.equal(first, hg.randn(4))
    hg.default_generator().set_state(state)
    assert hg.equal(second, hg.rand(4))


def test_repr_names_the_dtype_and_the_op():
    x = hg.tensor([[1, 2.5], [3, 4]], dtype=hg.float16, requires_grad=True)
    assert repr(x * 1) == ("tensor([[1.0000, 2.5000],\n        [3.0000, 4.0000]], "
                           "dtype=halfgrad.float16, grad_fn=<MulBackward0>)")
    assert repr(hg.float16) == "halfgrad.float16"
    assert repr(hg.device("cpu")) == "device(type='cpu')"


def test_print_options():
    before = hg.get_printoptions()
    with hg.printoptions(precision=1, threshold=3, edgeitems=1):
        assert repr(hg.arange(5.0) / 3) == "tensor([0.0,  ..., 1.3])"
        assert hg.get_printoptions()["edgeitems"] == 1
    assert hg.get_printoptions() == before and repr(hg.ones(1)) == "tensor([1.])"
    with pytest.raises(ValueError, match='expected profile "default", "short" or "full"'):
        hg.set_printoptions(profile="long")
    with pytest.raises(TypeError, match="unsupported format string"):
        f"{hg.ones(2):.2f}"


def test_an_invalid_argument_is_a_value_error_and_a_runtime_error():
    for error in (hg.ArgumentError, ValueError, RuntimeError):
        with pytest.raises(error, match="expected shapes that broadcast"):
            hg.ones(2) + hg.ones(3)
    with pytest.raises(IndexError) as caught:
        hg.ones(2)[5]
    assert not isinstance(caught.value, ValueError)


def test_types_of_one_dtype():
    assert isinstance(hg.ones(1), hg.FloatTensor) and not isinstance(hg.ones(1), hg.LongTensor)
    assert not isinstance(1.0, hg.FloatTensor)
    assert hg.HalfTensor([1]).dtype == hg.ones(1).type(hg.HalfTensor).dtype == hg.float16


def test_conversions():
    x = hg.tensor([1.5, -2.0])
    assert x.half().dtype == hg.float16
    assert [y.dtype for y in (x.byte(), x.char(), x.short())] == [hg.uint8, hg.int8, hg.int16]
    assert x.to(hg.int64).tolist() == [1, -2]
    assert x.to("cpu").is_same(x) and x.to(dtype=hg.float32).is_same(x)
    assert float(x[0]) == 1.5 and int(x[1]) == -2 and bool(x[0])
    assert [10, 20, 30][hg.tensor(1)] == 20
    with pytest.raises(ValueError, match="item: expected"):
        x.item()


def test_in_place_methods_return_the_same_object():
    x = hg.ones(2)
    assert x.add_(1) is x and x.zero_() is x
    y = x
    y += 2
    y *= 3
    assert y is x and x.tolist() == [6, 6]


def test_hash_is_the_tensors_identity():
    x = hg.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    assert hash(x.grad) == hash(x.grad)
