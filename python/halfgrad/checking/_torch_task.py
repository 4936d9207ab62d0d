"""Task files of KernelBench's form: a module of PyTorch and its inputs."""

import importlib.util
import pathlib
import sys

MOST_ELEMENTS = 2**22  #: of inputs and parameters; each costs some 50 bytes, 200 times


class TaskError(ValueError):
    """A task that cannot be read, or whose errors no formula bounds."""


def import_torch():
    try:
        import torch  # type: ignore[import-not-found]
    except ImportError:
        raise TaskError("kernelbench: expected PyTorch, which is not installed") from None
    return torch


def loaded(path, sizes=None):
    """The module in a file. `sizes` replace its variables of these names, when its functions run."""
    path = pathlib.Path(path)
    if not path.is_file():
        raise TaskError(f"kernelbench: expected a Python file, got {path}")
    spec = importlib.util.spec_from_file_location(f"halfgrad_task_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and torch.jit look it up
    spec.loader.exec_module(module)
    for name, value in (sizes or {}).items():
        if not isinstance(getattr(module, name, None), (int, float)):
            raise TaskError(f"kernelbench: expected a number {name} in {path.name}, got "
                            f"{getattr(module, name, None)!r}")
        setattr(module, name, value)
    return module


def made(kind, init_inputs, seed):
    """A model as KernelBench makes it: parameters come from PyTorch's generator with this seed."""
    torch = import_torch()
    torch.manual_seed(seed)
    init = list(init_inputs) if isinstance(init_inputs, (list, tuple)) else init_inputs
    if isinstance(init, dict):
        return kind(**init)
    if len(init) == 2 and isinstance(init[0], (list, tuple)) and isinstance(init[1], dict):
        return kind(*init[0], **init[1])
    return kind(*init)


class Task:
    """What a task file says: the model, its inputs, and its initial inputs."""

    def __init__(self, path, sizes, dtype, seed):
        torch = import_torch()
        self.path = pathlib.Path(path)
        try:
            module = loaded(path, sizes)
            torch.manual_seed(seed)
            self.init_inputs = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
            self.model = made(module.Model, self.init_inputs, seed)
            torch.manual_seed(seed)
            self.inputs = list(module.get_inputs())
        except TaskError:
            raise
        except Exception as error:
            raise TaskError(f"kernelbench: {self.path.name}: {type(error).__name__}: {error}") from error
        self.dtype = getattr(torch, dtype)
        for i, x in enumerate(self.inputs):
            if not isinstance(x, torch.Tensor):
                raise TaskError(f"kernelbench: expected tensors from get_inputs(), got {type(x).__name__} as number {i}")
        self.model.to(self.dtype)
        elements = sum(x.numel() for x in [*self.inputs, *self.model.parameters()])
        if elements > MOST_ELEMENTS:
            raise TaskError(f"kernelbench: expected at most {MOST_ELEMENTS} elements of inputs and parameters, got "
                            f"{elements}; choose smaller sizes with sizes= (--set NAME=VALUE)")
