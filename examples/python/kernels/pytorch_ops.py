"""Checks PyTorch's own ops on the CPU, in four dtypes. docs/pytorch_ops.md explains what it finds.

    python examples/python/kernels/pytorch_ops.py [OP...]      # default: all, some minutes
"""

import sys

import halfgrad
import torch
from torch.nn import functional

DTYPES = ("float64", "float32", "float16", "bfloat16")

UNARY = """abs ceil cos erf exp exp2 expm1 floor isfinite isinf isnan log log10 log1p log2 logical_not
           neg reciprocal relu round rsqrt sigmoid sign sin sqrt square tan tanh trunc""".split()
BINARY = """add div eq fmod ge gt le logical_and logical_or logical_xor lt maximum minimum mul ne pow
            remainder sub""".split()
SAME = "addcdiv addcmul addmm baddbmm bmm dot lerp matmul mm mv outer where".split()
ACTIVATIONS = "elu gelu leaky_relu silu softplus softshrink".split()
LOSSES = """binary_cross_entropy binary_cross_entropy_with_logits cross_entropy huber_loss kl_div l1_loss
            mse_loss nll_loss smooth_l1_loss""".split()
ROWS = "all amax amin any argmax argmin logsumexp mean prod std sum var".split()

OPS = {name: getattr(torch, name) for name in UNARY + BINARY + SAME}
OPS |= {name: getattr(functional, name) for name in ACTIVATIONS + LOSSES}
OPS |= {name: lambda x, name=name: getattr(x, name)(1) for name in ROWS}
OPS |= {
    "cat": lambda a, b: torch.cat([a, b], 1),
    "cumsum": lambda x: x.cumsum(1),
    "embedding": lambda weight, indices: functional.embedding(indices, weight),
    "gather": lambda x, indices: x.gather(1, indices),
    "index_select": lambda x, indices: x.index_select(0, indices),
    "layer_norm": lambda x, w, b: functional.layer_norm(x, x.shape[1:], w, b),
    "linear": functional.linear,
    "linear_gelu": lambda x, w, b: functional.gelu(functional.linear(x, w, b), approximate="tanh"),
    "linear_relu": lambda x, w, b: functional.relu(functional.linear(x, w, b)),
    "log_softmax": lambda x: x.log_softmax(1),
    "masked_fill": lambda x, mask: x.masked_fill(mask, 0.5),
    "norm": lambda x: x.norm(dim=1),
    "rms_norm": lambda x, w: functional.rms_norm(x, x.shape[1:], w, 1e-5),
    "scatter_add": lambda x, indices, source: x.scatter_add(1, indices, source),
    "softmax": lambda x: x.softmax(1),
    "stack": lambda a, b: torch.stack([a, b], 1),
    "transpose": lambda x: x.t(),
}


def check(op, dtype):
    return halfgrad.check(OPS[op], op, dtype=dtype, like="torch", shrink=False, repeat=0)


def main(names):
    checks = alarms = 0
    for op in names or sorted(OPS):
        for dtype in DTYPES:
            checked = check(op, dtype)
            checks += 1
            alarms += not checked.passed
            text = "passed" if checked.passed else checked.findings[0].message.split("\n")[0]
            print(f"{op:32} {dtype:8} {text}", flush=True)
    print(f"PyTorch {torch.__version__}: {alarms} alarms in {checks} checks")


if __name__ == "__main__":
    main(sys.argv[1:])
