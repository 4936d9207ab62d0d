"""State dicts, conversions, printing and pickling of a Module; see module.py."""

import itertools
import re
from typing import Any, Callable, Mapping, NamedTuple, Optional

from .._halfgrad import Tensor, dtype
from .._halfgrad.nn import Module
from .registration import Parameter, register
from .tree import children, entries, join, kinds, named_modules, named_tensors


# C++ prints the number 1.0 as 1.
_WHOLE_NUMBER = re.compile(r"((?:\b(?:alpha|beta|eps|max_norm|momentum|negative_slope|norm_type|p|"
                           r"threshold))=-?\d+)(?=,|$)")


class IncompatibleKeys(NamedTuple):
    """Names that load_state_dict() missed, and those that the module does not have."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (f"IncompatibleKeys(missing_keys={self.missing_keys}, "
                f"unexpected_keys={self.unexpected_keys})")


def _transient_names(self: Module) -> list[str]:
    """Buffers that are no part of the state."""
    return [join(path, name) for path, module in named_modules(self, "", False)
            for name in module.__dict__.get("_transient", ()) if name in kinds(module)]


def state_dict(self: Module, *, destination: Optional[dict[str, Tensor]] = None, prefix: str = "",
               keep_vars: bool = False) -> dict[str, Tensor]:
    transient = set(_transient_names(self))
    state = {name: tensor for name, tensor in self._state_dict().items() if name not in transient}
    if keep_vars:
        kept = dict(named_tensors(self, "parameter", "", True, False))
        state = {name: kept.get(name, tensor) for name, tensor in state.items()}
    result = {} if destination is None else destination
    extras = {name: module.get_extra_state() for name, module in _extra_states(self).items()}
    result.update({prefix + name: value for name, value in {**state, **extras}.items()})
    return result


def _extra_states(self: Module) -> dict[str, Module]:
    """The modules that define get_extra_state(), by the name of their value in the state dict."""
    return {join(path, "_extra_state"): module for path, module in named_modules(self)
            if hasattr(type(module), "get_extra_state")}


def load_state_dict(self: Module, state_dict: Mapping[str, Tensor], strict: bool = True,
                    assign: bool = False) -> IncompatibleKeys:
    transient = set(_transient_names(self))
    extras = _extra_states(self)
    missing_extras = [name for name in extras if name not in state_dict]
    if strict and missing_extras:
        raise ValueError(f"load_state_dict: expected {missing_extras}, got no such names")
    state = {**{name: own for name, own in self._state_dict().items() if name in transient},
             **{name: value for name, value in state_dict.items() if name not in extras}}
    keys = IncompatibleKeys(*self._load_state_dict(state, strict))
    keys.missing_keys.extend(missing_extras)
    for name, module in extras.items():
        if name in state_dict:
            module.set_extra_state(state_dict[name])
    if assign:
        for path, module in list(named_modules(self, "", False)):
            for name, kind in list(kinds(module).items()):
                tensor = state_dict.get(join(path, name))
                if tensor is not None and kind == "parameter":
                    old = getattr(module, name)
                    setattr(module, name, Parameter(tensor, old.requires_grad))
                elif tensor is not None and kind == "buffer":
                    setattr(module, name, tensor)
    return keys


def apply(self: Module, fn: Callable[[Module], Any]) -> Module:
    for child in children(self):
        child.apply(fn)
    fn(self)
    return self


def requires_grad_(self: Module, requires_grad: bool = True) -> Module:
    for parameter in self.parameters():
        parameter.requires_grad_(requires_grad)
    return self


def to(self: Module, *args: Any, **kwargs: Any) -> Module:
    kwargs.pop("non_blocking", None)
    targets = [*args, *kwargs.values()]
    for target in targets:
        if isinstance(target, Tensor):
            self._to(target.device)
            self._to(target.dtype)
        elif target is not None and not isinstance(target, bool):
            self._to(target)
    return self


def _to_dtype(name: str) -> Callable[[Module], Module]:
    return lambda self: to(self, getattr(dtype, name))


to_float16, to_float32 = _to_dtype("float16"), _to_dtype("float32")
to_float64, to_bfloat16 = _to_dtype("float64"), _to_dtype("bfloat16")


def to_cpu(self: Module) -> Module:
    return to(self, "cpu")


def to_cuda(self: Module, device: Any = None) -> Module:
    if device is None:
        device = "cuda"
    return to(self, f"cuda:{device}" if isinstance(device, int) else device)


def extra_text(self: Module) -> str:
    text: str = self._extra()
    shape = self.__dict__.get("_options", {}).get("normalized_shape")
    if shape is not None:  # a tuple, which C++ prints in square brackets
        text = f"{tuple(shape)}{text[text.index(']') + 1:]}"
    text = _WHOLE_NUMBER.sub(r"\1.0", text)
    for name, value in (("true", "True"), ("false", "False"), ("none", "None")):
        text = text.replace(f"={name}", f"={value}")
    return text


def text(self: Module) -> str:
    return _text_of(self, [f"({name}): {child!r}" for name, child in entries(self, "module")])


def text_of_runs(self: Module) -> str:
    """text() of a list, where equal neighbours share an entry: "(0-3): 4 x Linear(...)"."""
    parts: list[str] = []
    children = list(entries(self, "module"))
    for child, run in itertools.groupby(enumerate(children), lambda entry: repr(entry[1][1])):
        places = [place for place, _ in run]
        span = f"({places[0]}): "
        if len(places) > 1:
            span = f"({places[0]}-{places[-1]}): {len(places)} x "
        parts.append(span + child)
    return _text_of(self, parts)


def _text_of(self: Module, parts: list[str]) -> str:
    parts = [part.replace("\n", "\n  ") for part in parts]
    extra = self.extra_repr()
    if not parts:
        return f"{type(self).__name__}({extra})"
    lines = [line for line in extra.split("\n") if line] + parts
    return "\n  ".join([f"{type(self).__name__}(", *lines]) + "\n)"


def rebuild(cls: type[Module], base: type[Module], arguments: dict[str, Any]) -> Module:
    """An object of `cls` whose part in C++ is made by `base`, for pickling."""
    module = cls.__new__(cls)
    base.__init__(module, **arguments)
    return module


def reduce(self: Any, protocol: Any) -> Any:
    base = next(c for c in type(self).__mro__ if c.__module__ == Module.__module__)
    arguments = dict(self.__dict__.get("_options", {}))
    if "in_features" in arguments or "num_embeddings" in arguments:
        # The constructor of a tensor draws no random numbers.
        others = {name: value for name, value in arguments.items()
                  if name in ("padding_idx", "max_norm", "norm_type", "scale_grad_by_freq")}
        bias = {"bias": self.bias} if "in_features" in arguments else {}
        arguments = {"weight": self.weight, **others, **bias}
    names = kinds(self)
    registered = [(name, kind, getattr(self, name)) for name, kind in names.items()]
    others = {name: value for name, value in self.__dict__.items()
              if name not in names and name not in ("_kinds", "_options")}
    return rebuild, (type(self), base, arguments), (self.training, registered, others)


def set_state(self: Module, state: tuple[bool, list[tuple[str, str, Any]], dict[str, Any]]) -> None:
    training, registered, others = state
    self.train(training)
    for name in set(kinds(self)) - {name for name, _, _ in registered}:
        setattr(self, name, None)
    for name, kind, value in registered:
        register(self, kind, name, value, kinds(self).get(name))
    for name, value in others.items():
        self.__dict__[name] = value
