"""Checks a candidate for a task of KernelBench's form. Needs PyTorch.

    python -m halfgrad.checking.kernelbench task.py candidate.py

The task has a class Model(torch.nn.Module), get_inputs() and get_init_inputs(); the candidate a class
ModelNew. Exit code: 0 if no fault was found, 1 for a fault, 2 if it could not be checked.
"""

import argparse
import copy
import math
import multiprocessing
import pathlib
import sys

from .. import reference as hr
from ._arrays import dtype_name
from ._kernel_report import write_junit
from ._run import check
from ._torch_task import Task, TaskError, import_torch, loaded, made


def _varied_parameters(task, candidate, seed):
    """The names of the parameters that the candidate has in the same shapes, or none of them.

    The candidate is loaded in a process of its own, so that it cannot change this one.
    """
    wanted = [(name, tuple(p.shape)) for name, p in task.model.named_parameters()]
    if not wanted:
        return []

    def ask(pipe):
        try:
            model = made(loaded(candidate).ModelNew, task.init_inputs, seed)
            pipe.send([(name, tuple(p.shape)) for name, p in model.named_parameters()])
        except BaseException:  # the check reports it, with its traceback
            pipe.send(wanted)

    here, there = multiprocessing.get_context("fork").Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=ask, args=(there,))
    process.start()
    there.close()
    try:
        found = here.recv()
    except EOFError:  # it ended the process
        found = wanted
    process.join()
    return [name for name, _ in wanted] if sorted(found) == sorted(wanted) else []


def _finite(x):
    return x if math.isfinite(x) else 0.0


def _spread(tensor):
    """The largest absolute value of a sample, as the range of ordinary values; 2 if all are equal."""
    values = tensor.detach().double()
    if values.numel() == 0 or bool((values == values.flatten()[0]).all()):
        return 2.0
    return float(values.abs().max())


def _kept_in(tensor):
    low, high = float(tensor.double().min()), float(tensor.double().max())
    return lambda x: min(max(x, low), high) if x == x else low


def _operands(task, names, keep_range):
    """The operands of the formula: the task's inputs, then the varied parameters."""
    torch = import_torch()
    operands = []
    for x in task.inputs:
        shape = tuple(x.shape)
        if x.dtype == torch.bool:
            operands.append(hr.mask(shape))
        elif not x.dtype.is_floating_point:
            if x.numel() and int(x.min()) < 0:
                raise TaskError("kernelbench: expected integers of 0 and above as indices, got "
                                f"{int(x.min())}")
            operands.append(hr.indices(shape, below=int(x.max()) + 1 if x.numel() else 1))
        else:
            spread = _spread(x)
            admitted = _kept_in(x) if keep_range and x.numel() else None
            operands.append(hr.input(shape, low=-spread, high=spread, admitted=admitted))
    parameters = dict(task.model.named_parameters())
    for name in names:
        spread = _spread(parameters[name])
        operands.append(hr.input(tuple(parameters[name].shape), low=-spread, high=spread, admitted=_finite))
    return operands


def _formula(task, names, keep_range):
    from ._torch_trace import TracedModel, UnsupportedOp

    traced = TracedModel(task.model, names, task.dtype)
    dtypes = [task.dtype if x.dtype.is_floating_point else x.dtype for x in task.inputs]

    def reference(*operands):
        results = traced(*operands, dtypes=dtypes)
        return results if len(results) > 1 else results[0]

    operands = _operands(task, names, keep_range)
    try:
        formula = hr.formula(reference, operands, name=task.path.stem)
        if traced.gives_places:  # does not round
            formula = hr.formula(reference, operands, name=task.path.stem, exact=True)
        return formula, "int64" if traced.gives_places else None
    except UnsupportedOp as error:
        raise TaskError(f"kernelbench: {task.path.name} uses {error}, whose errors no formula bounds: unbounded; "
                        "state the op as a formula of your own: halfgrad.check(kernel, reference=..., inputs=...)"
                        ) from error
    except Exception as error:
        raise TaskError(f"kernelbench: {task.path.name} with arrays that carry error bounds: "
                        f"{type(error).__name__}: {error}") from error


class _ModelKernel:
    """A model as a kernel. It is made at the first call: a candidate, in the kernel's own process."""

    def __init__(self, make, task, names, device):
        self._make, self._names, self._device = make, names, device
        self._count, self._dtype = len(task.inputs), task.dtype
        self._model = None

    def __call__(self, *operands):
        with import_torch().no_grad():
            if self._model is None:
                self._model = self._make().to(device=self._device, dtype=self._dtype)
            parameters = dict(self._model.named_parameters())
            for name, value in zip(self._names, operands[self._count:]):
                parameters[name].copy_(value)
            return self._model(*operands[:self._count])


def _kinds_beyond_the_model(kernel, formula, options):
    """The kinds of inputs for which the task's own model, computed by PyTorch, exceeds the budget."""
    kinds = []
    options = {**options, "stop_at_first": True, "shrink": False, "repeat": 1, "isolate": False}
    without = list(options.pop("without", ()))
    while True:
        result = check(kernel, formula, without=without + kinds, **options)
        if not result.findings:
            return kinds
        kinds.append(result.findings[0].case.split(", ")[3])


def check_task(task, candidate, *, dtype="float32", sizes=None, seed=0, keep_parameters=False,
               keep_range=False, strict=False, device="cpu", isolate=None, **options):
    """Checks the candidate of a task on hostile values, in the shapes of the task.

    task: a Python file with a class Model(torch.nn.Module), get_inputs() and, if the model takes
        arguments, get_init_inputs().
    candidate: a Python file with a class ModelNew of the same arguments. It runs in a process of its
        own on the CPU, unless isolate=False.
    dtype: of floating-point inputs and parameters.
    sizes: numbers of the task file to replace, {"batch_size": 4}, before its functions run.
    keep_parameters: parameters keep their initial values, for a candidate that packs them when it is
        made. Else they are hostile, but finite, if the candidate has parameters of the same names.
    keep_range: inputs stay between the least and the largest of get_inputs().
    strict: also judges kinds of inputs for which the model itself, as PyTorch computes it, exceeds the
        budget. They are left out by default: the candidate may call the same functions.
    options: those of halfgrad.check(), such as accumulate, without, max_abs, timeout.

    The reference is the task's model, computed in double with error bounds: each op of PyTorch that it
    calls has a formula. Returns a KernelReport, whose report["task"] tells what was varied and left
    out. Raises TaskError for a task that cannot be read, for one with an op without formula, and for
    one that is too large.
    """
    torch = import_torch()
    dtype = dtype_name(dtype)
    isolate = device == "cpu" if isolate is None else isolate
    if not pathlib.Path(candidate).is_file():
        raise TaskError(f"kernelbench: expected a Python file, got {candidate}")
    if isolate:
        torch.set_num_threads(1)  # threads do not live on in a forked process
    stated = Task(task, sizes, dtype, seed)
    names = [] if keep_parameters else _varied_parameters(stated, candidate, seed)
    formula, output = _formula(stated, names, keep_range)
    if output is not None:
        options = {"output": output, **options}
    options = {"layouts": ["contiguous"], "like": "torch", "dtype": dtype, "device": device, "dims": [(1, 1, 1)],
               "seed": seed, "isolate": isolate, **options}
    beyond = []
    if not strict:
        model = _ModelKernel(lambda: copy.deepcopy(stated.model), stated, names, device)
        beyond = _kinds_beyond_the_model(model, formula, options)
        options["without"] = [*options.get("without", ()), *beyond]
    path = pathlib.Path(candidate).resolve()
    kernel = _ModelKernel(lambda: made(loaded(path).ModelNew, stated.init_inputs, seed), stated, names, device)
    result = check(kernel, formula, **options)
    kept = [name for name, _ in stated.model.named_parameters() if name not in names]
    result.add("task", {"task": stated.path.name, "candidate": pathlib.Path(candidate).name,
                        "inputs": [list(x.shape) for x in stated.inputs],
                        "varied_parameters": names, "kept_parameters": kept, "left_out": beyond})
    return result


def _number(text):
    name, _, value = text.partition("=")
    try:
        return name, int(value) if value.lstrip("-").isdigit() else float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected NAME=NUMBER, got {text}") from None


def _arguments(given):
    parser = argparse.ArgumentParser(
        prog="python -m halfgrad.checking.kernelbench",
        description="Checks the candidate of a KernelBench task on hostile values, within error budgets.",
        epilog="Exit code: 0 if no fault was found, 1 for a fault, 2 if it could not be checked.")
    parser.add_argument("task", help="Python file with Model, get_inputs() and get_init_inputs()")
    parser.add_argument("candidate", help="Python file with ModelNew")
    parser.add_argument("--dtype", default="float32", help="float32 (the default), float16, bfloat16 or float64")
    parser.add_argument("--accumulate", help="dtype of intermediate results, or tf32")
    parser.add_argument("--set", type=_number, action="append", default=[], metavar="NAME=NUMBER", dest="sizes",
                        help="a number of the task file to replace, such as batch_size=4")
    parser.add_argument("--device", default="cpu", help="cpu (the default) or cuda")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep-parameters", action="store_true", help="parameters keep their initial values")
    parser.add_argument("--keep-range", action="store_true", help="inputs stay in the range of get_inputs()")
    parser.add_argument("--strict", action="store_true",
                        help="also judge kinds of inputs for which PyTorch's own model exceeds the budget")
    parser.add_argument("--without", action="append", default=[], metavar="KIND",
                        help="a kind of inputs to leave out, such as \"near max\"")
    parser.add_argument("--max-abs", type=float, help="greater inputs and infinities are replaced")
    parser.add_argument("--any-nan", action="store_true", help="any value may stand for NaN")
    parser.add_argument("--fast-math", action="store_true", help="errors of nvcc's --use_fast_math are allowed")
    parser.add_argument("--any-order", action="store_true", help="equal calls may differ within the budget")
    parser.add_argument("--flush-subnormals", action="store_true", help="a subnormal value may be 0")
    parser.add_argument("--no-shrink", action="store_true", help="do not look for a smaller failing case")
    parser.add_argument("--stop-at-first", action="store_true", help="end at the first fault")
    parser.add_argument("--in-process", action="store_true", help="run the candidate in this process")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds that a call may take (60)")
    parser.add_argument("--json", metavar="FILE", help="write the report as JSON; - for the standard output")
    parser.add_argument("--junit", metavar="FILE", help="write a JUnit document")
    return parser.parse_args(given)


def _print_task(task):
    for member, text in (("varied_parameters", "parameters that were varied"),
                         ("kept_parameters", "parameters that kept their initial values"),
                         ("left_out", "inputs left out, where PyTorch's own model exceeds the budget")):
        if task[member]:
            print(f"  {text}: {', '.join(task[member])}")


def main(given=None):
    """Runs the command line. Returns the exit code."""
    args = _arguments(given)
    try:
        result = check_task(
            args.task, args.candidate, dtype=args.dtype, sizes=dict(args.sizes), seed=args.seed,
            keep_parameters=args.keep_parameters, keep_range=args.keep_range, strict=args.strict, device=args.device,
            isolate=False if args.in_process else None, accumulate=args.accumulate, without=args.without,
            max_abs=args.max_abs, any_nan=args.any_nan, flush_subnormals=args.flush_subnormals,
            fast_math=args.fast_math, any_order=args.any_order,
            shrink=not args.no_shrink, stop_at_first=args.stop_at_first, timeout=args.timeout)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if args.json == "-":
        print(result.to_json())
    else:
        print(result)
        _print_task(result.report["task"])
        if args.json:
            pathlib.Path(args.json).write_text(result.to_json() + "\n", encoding="utf-8")
    if args.junit:
        write_junit(args.junit, [result])
    return 0 if result.passed else 1 if result.findings else 2


if __name__ == "__main__":
    sys.exit(main())
