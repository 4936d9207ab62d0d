"""Evaluates a module of PyTorch with arrays that carry error bounds, in place of its tensors.

PyTorch hands every call of its functions with such an array to __torch_function__, which computes the op
with halfgrad.reference. No arithmetic of PyTorch takes part, so a candidate that replaces PyTorch's
functions changes nothing here.
"""

import copy

import torch  # type: ignore[import-not-found]

from .. import reference as hr
from .._halfgrad import from_dlpack


class UnsupportedOp(ValueError):
    """The reference uses an op whose error no formula bounds."""


def constant(like, tensor):
    """The values of a tensor of PyTorch as an Array without errors."""
    return hr.exact(like, from_dlpack(tensor.detach().double().cpu().contiguous().clone()))


class TracedArray:
    """An Array of halfgrad.reference that PyTorch's functions take for a tensor.

    dtype: that of the tensor that it stands for.
    views: a list that an array shares with all its views, themselves included; an array that is
        changed in place must be the only one in it.
    """

    def __init__(self, array, dtype, views=None):
        self.array = array
        self.dtype = dtype
        self.views = [] if views is None else views
        self.views.append(self)
        self.is_result = False  # PyTorch stores a result in this dtype, but not a view of it

    device = torch.device("cpu")
    layout = torch.strided
    requires_grad = is_cuda = is_sparse = is_quantized = is_nested = False

    @property
    def shape(self):
        return torch.Size(self.array.shape)

    @property
    def ndim(self):
        return self.array.ndim

    @property
    def T(self):
        return self._call("t")

    @property
    def mT(self):
        return self._call("transpose", -2, -1)

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def dim(self):
        return self.ndim

    def numel(self):
        return self.shape.numel()

    def is_floating_point(self):
        return self.dtype.is_floating_point

    def is_contiguous(self, *_, **__):
        return True

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def __bool__(self):
        raise UnsupportedOp("a choice by the values of a tensor")

    def _call(self, name, *args, **kwargs):
        return call(name, (self, *args), kwargs)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self._call(name, *args, **kwargs)

    def __getitem__(self, index):
        return self._call("__getitem__", index)

    def __setitem__(self, index, value):
        raise UnsupportedOp("an assignment to elements")

    def __hash__(self):
        return id(self)

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return call(function.__name__, args, kwargs or {})


def _define_operators():
    names = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "matmul": "matmul", "pow": "pow"}
    for operator, name in names.items():
        def forward(self, other, name=name):
            return self._call(name, other)

        def reflected(self, other, name=name):
            return call(name, (other, self), {})

        def in_place(self, other, name=name):
            return self._call(name + "_", other)

        setattr(TracedArray, f"__{operator}__", forward)
        setattr(TracedArray, f"__r{operator}__", reflected)
        setattr(TracedArray, f"__i{operator}__", in_place)
    for name in ("lt", "le", "gt", "ge", "eq", "ne", "neg", "abs"):
        setattr(TracedArray, f"__{name}__", lambda self, *args, name=name: self._call(name, *args))


_define_operators()


def _traced_in(values):
    for value in values:
        if isinstance(value, TracedArray):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _traced_in(value)


def _plain(value, like, keeps):
    """The arguments as an op takes them: Arrays in place of tensors."""
    if isinstance(value, TracedArray):
        stored = value.is_result and not keeps and value.dtype in (torch.float16, torch.bfloat16)
        return hr.stored(value.array) if stored else value.array
    if isinstance(value, torch.Tensor):
        return constant(like, value)
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        return type(value)(_plain(each, like, keeps) for each in value)
    return value


def _traced(result, dtype, views, is_result):
    if isinstance(result, hr.Array):
        traced = TracedArray(result, dtype, views)
        traced.is_result = is_result
        return traced
    if isinstance(result, (list, tuple)):
        return type(result)(_traced(each, dtype, views, is_result) for each in result)
    return result


def _expect_no_narrower(name, dtype, wanted):
    """Refuses conversions that lose digits: their rounding is part of what the model computes."""
    wanted = [each for each in wanted if isinstance(each, torch.dtype)]
    wanted += [dtypes for short, dtypes in (("half", torch.float16), ("bfloat16", torch.bfloat16)) if name == short]
    for each in wanted:
        if each != dtype and (not each.is_floating_point or each.itemsize <= dtype.itemsize):
            raise UnsupportedOp(f"a conversion from {dtype} to {each}")


GIVES_PLACES = ("argmax", "argmin")  #: ops whose result PyTorch stores as int64


def call(name, args, kwargs):
    """Computes an op of PyTorch by its name. Raises UnsupportedOp for one that has no formula."""
    from . import _torch_moves, _torch_ops, _torch_reductions, _torch_scans, _torch_windows  # noqa: F401: they add ops
    from ._torch_registry import MOVES, OPS

    kwargs = {key: value for key, value in kwargs.items() if value is not None and key != "_stacklevel"}
    if "out" in kwargs:
        raise UnsupportedOp(f"{name} with out=")
    in_place = bool(kwargs.pop("inplace", False))
    if name.endswith("_") and not name.endswith("__"):
        name, in_place = name[:-1], True
    op = OPS.get(name)
    if op is None:
        raise UnsupportedOp(name)
    traced = list(_traced_in([*args, *kwargs.values()]))
    first = traced[0]
    is_move = name in MOVES
    _expect_no_narrower(name, first.dtype, [*args, *kwargs.values()])
    like = first.array
    result = op(*_plain(args, like, is_move), **{k: _plain(v, like, is_move) for k, v in kwargs.items()})
    dtype = next((each.dtype for each in traced if each.dtype.is_floating_point), first.dtype)
    if name in GIVES_PLACES:
        dtype = torch.int64
    if in_place:
        if len(first.views) > 1 or first is not args[0]:
            raise UnsupportedOp(f"{name} in place on an input, a parameter, or a tensor with views")
        first.array, first.is_result = result, True
        return first
    return _traced(result, first.dtype if is_move else dtype, first.views if is_move else None,
                   first.is_result if is_move else True)


class TracedModel:
    """A module of PyTorch whose inputs and parameters are operands of a formula.

    names: those of the parameters that are operands, in order; others keep their values.
    """

    def __init__(self, model, names, dtype):
        self._model, self._names, self._dtype = model, names, dtype
        self.gives_places = False  # set by a call: every result is int64

    def __call__(self, *operands, dtypes):
        """The results for Arrays: first the inputs, of these dtypes, then the parameters."""
        inputs = [self._held(array, dtype) for array, dtype in zip(operands, dtypes)]
        model = copy.deepcopy(self._model)
        for name, array in zip(self._names, operands[len(dtypes):]):
            self._put(model, name, self._held(array, self._dtype))
        for name, tensor in [*self._model.named_parameters(), *self._model.named_buffers()]:
            if name not in self._names and tensor.is_floating_point():
                self._put(model, name, self._held(constant(operands[0], tensor), self._dtype))
        result = model(*inputs)
        results = result if isinstance(result, (tuple, list)) else (result,)
        self.gives_places = all(isinstance(each, TracedArray) and each.dtype == torch.int64 for each in results)
        for each in results:
            if not isinstance(each, TracedArray):
                raise UnsupportedOp(f"a result that does not depend on the inputs: {type(each).__name__}")
        return tuple(each.array for each in results)

    @staticmethod
    def _held(array, dtype):
        return TracedArray(array, dtype, views=[None])  # may not be changed in place

    @staticmethod
    def _put(model, name, value):
        *path, last = name.split(".")
        for part in path:
            model = getattr(model, part)
        held = model._parameters if last in model._parameters else model._buffers
        held[last] = value
