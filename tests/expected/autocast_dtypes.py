"""Writes autocast_dtypes.json: output dtypes under CUDA fp16 autocast. PyTorch 2.15.0 (CUDA build).

    python autocast_dtypes.py

Needs no GPU: fake tensors go through PyTorch's CUDA dispatch, autocast included, without running
a kernel. `inputs` has one letter per tensor, h f16, b bf16, f f32, d f64, i i64, in the order of
the op's signature; `output` is such a letter, ? for bool, or "error".

Fake kernels check less than real ones. If f64 is mixed with another dtype, the op also runs on real
CPU tensors without autocast, which does not cast f64; an error there becomes the expected output.
"""

import logging

import torch
import torch.nn.functional as F
from torch._subclasses import FakeTensorMode

import expected

DTYPES = dict(h=torch.float16, b=torch.bfloat16, f=torch.float32, d=torch.float64, i=torch.int64)
LETTERS = {dtype: letter for letter, dtype in DTYPES.items()} | {torch.bool: "?"}

SINGLES = ["h", "b", "f", "d"]
PAIRS = [first + second for first in SINGLES for second in SINGLES]
TRIPLES = ["hhh", "bbb", "fff", "ddd", "hhf", "hfh", "fhh", "ffh", "fhf", "hff", "bbf", "ffd"]

# For ops whose fake and real kernels disagree: the pairs of dtypes that both accept.
PAIRS_OF = {
    "batch_norm_weight": ["hh", "hf", "bb", "bf", "ff", "dd"],
    "huber_loss": [pair for pair in PAIRS if "d" not in pair] + ["dd"],
}


def indices(x):
    return torch.zeros(x.shape, dtype=torch.int64, device=x.device)


def classes(x):
    return torch.zeros(x.shape[0], dtype=torch.int64, device=x.device)


def mask(x):
    return torch.ones(x.shape, dtype=torch.bool, device=x.device)


UNARY = {
    "neg": torch.neg,
    "abs": torch.abs,
    "exp": torch.exp,
    "exp2": torch.exp2,
    "expm1": torch.expm1,
    "log": torch.log,
    "log2": torch.log2,
    "log10": torch.log10,
    "log1p": torch.log1p,
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "reciprocal": torch.reciprocal,
    "pow_scalar": lambda x: torch.pow(x, 2),
    "scalar_pow": lambda x: torch.pow(2, x),
    "sin": torch.sin,
    "cos": torch.cos,
    "tan": torch.tan,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": F.relu,
    "leaky_relu": F.leaky_relu,
    "elu": F.elu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "softplus": F.softplus,
    "erf": torch.erf,
    "clamp": lambda x: torch.clamp(x, -1, 1),
    "add_scalar": lambda x: x + 1.5,
    "sub_scalar": lambda x: x - 1.5,
    "mul_scalar": lambda x: x * 1.5,
    "div_scalar": lambda x: x / 1.5,
    "scalar_div": lambda x: 1.5 / x,
    "isfinite": torch.isfinite,
    "isnan": torch.isnan,
    "logical_not": torch.logical_not,
    "sum": torch.sum,
    "sum_dim": lambda x: torch.sum(x, 1),
    "mean": torch.mean,
    "mean_dim": lambda x: torch.mean(x, 1),
    "var": torch.var,
    "std": torch.std,
    "max": torch.max,
    "min": torch.min,
    "max_dim": lambda x: torch.max(x, 1).values,
    "argmax": torch.argmax,
    "argmin": torch.argmin,
    "prod": torch.prod,
    "prod_dim": lambda x: torch.prod(x, 1),
    "cumsum": lambda x: torch.cumsum(x, 1),
    "sort": lambda x: torch.sort(x, 1).values,
    "argsort": lambda x: torch.argsort(x, 1),
    "topk": lambda x: torch.topk(x, 2, 1).values,
    "multinomial": lambda x: torch.multinomial(x, 2, True),
    "norm": torch.norm,
    "norm_dim": lambda x: torch.norm(x, dim=1),
    "logsumexp": lambda x: torch.logsumexp(x, 1),
    "all": torch.all,
    "any": torch.any,
    "reshape": lambda x: x.reshape(-1),
    "transpose": lambda x: x.transpose(0, 1),
    "permute": lambda x: x.permute(1, 0),
    "squeeze": torch.squeeze,
    "unsqueeze": lambda x: x.unsqueeze(0),
    "expand": lambda x: x.unsqueeze(0).expand(2, 4, 4),
    "slice": lambda x: x[1:3],
    "select": lambda x: x[0],
    "gather": lambda x: torch.gather(x, 1, indices(x)),
    "index_select": lambda x: torch.index_select(x, 0, classes(x)),
    "masked_fill": lambda x: x.masked_fill(mask(x), 0.0),
    "flatten": torch.flatten,
    "softmax": lambda x: torch.softmax(x, 1),
    "softmax_dtype_f16": lambda x: torch.softmax(x, 1, dtype=torch.float16),
    "log_softmax": lambda x: torch.log_softmax(x, 1),
    "layer_norm": lambda x: F.layer_norm(x, (4,)),
    "rms_norm": lambda x: F.rms_norm(x, (4,)),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "group_norm": lambda x: F.group_norm(x, 2),
    "embedding": lambda x: F.embedding(classes(x), x),
    "dropout": lambda x: F.dropout(x, 0.5),
    "cross_entropy_index": lambda x: F.cross_entropy(x, classes(x)),
    "cross_entropy_index_none": lambda x: F.cross_entropy(x, classes(x), reduction="none"),
    "cross_entropy_smoothing": lambda x: F.cross_entropy(x, classes(x), label_smoothing=0.1),
    "nll_loss": lambda x: F.nll_loss(x, classes(x)),
    "einsum_transpose": lambda x: torch.einsum("ij->ji", x),
    "einsum_sum": lambda x: torch.einsum("ij->", x),
}

BINARY = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "div_trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "div_floor": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "remainder": torch.remainder,
    "fmod": torch.fmod,
    "add_0d": lambda x, y: x + y[0, 0],
    "mul_0d": lambda x, y: x * y[0, 0],
    "pow": torch.pow,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "where": lambda x, y: torch.where(mask(x), x, y),
    "lerp_scalar": lambda x, y: torch.lerp(x, y, 0.5),
    "eq": torch.eq,
    "lt": torch.lt,
    "logical_and": torch.logical_and,
    "cat": lambda x, y: torch.cat([x, y]),
    "stack": lambda x, y: torch.stack([x, y]),
    "scatter_add": lambda x, y: torch.scatter_add(x, 1, indices(x), y),
    "mm": torch.mm,
    "matmul": torch.matmul,
    "matmul_vector": lambda x, y: torch.matmul(x, y[0]),
    "matmul_dot": lambda x, y: torch.matmul(x[0], y[0]),
    "bmm": lambda x, y: torch.bmm(x[None], y[None]),
    "linear": F.linear,
    "outer": lambda x, y: torch.outer(x[0], y[0]),
    "dot": lambda x, y: torch.dot(x[0], y[0]),
    "layer_norm_weight": lambda x, y: F.layer_norm(x, (4,), y[0], y[0]),
    "rms_norm_weight": lambda x, y: F.rms_norm(x, (4,), y[0]),
    "batch_norm_weight": lambda x, y: F.batch_norm(
        x, y[0].clone(), y[0].clone(), y[0], y[0], training=True
    ),
    "group_norm_weight": lambda x, y: F.group_norm(x, 2, y[0], y[0]),
    "cross_entropy_probability": F.cross_entropy,
    "cross_entropy_weight": lambda x, y: F.cross_entropy(x, classes(x), weight=y[0]),
    "mse_loss": F.mse_loss,
    "l1_loss": F.l1_loss,
    "smooth_l1_loss": F.smooth_l1_loss,
    "huber_loss": F.huber_loss,
    "bce": F.binary_cross_entropy,
    "bce_with_logits": F.binary_cross_entropy_with_logits,
    "kl_div": lambda x, y: F.kl_div(x, y, reduction="mean"),
    "einsum": lambda x, y: torch.einsum("ij,jk->ik", x, y),
}

TERNARY = {
    "addmm": torch.addmm,
    "linear_bias": lambda x, weight, bias: F.linear(x, weight, bias[0]),
    "linear_matrix_bias": F.linear,
    "addcmul": torch.addcmul,
    "addcdiv": torch.addcdiv,
    "lerp": torch.lerp,
    "baddbmm": lambda x, y, z: torch.baddbmm(x, y[None], z[None]),
    "scaled_dot_product_attention": F.scaled_dot_product_attention,
}

INTEGER = "add_scalar div_scalar exp sqrt pow_scalar sum prod cumsum argmax max".split()


def tensors(letters, device):
    return [torch.ones(4, 4, dtype=DTYPES[letter], device=device) for letter in letters]


def real_cpu_fails(op, letters):
    with torch.autocast("cpu", enabled=False):
        try:
            op(*tensors(letters, "cpu"))
        except RuntimeError:
            return True
    return False


def output_dtype(op, letters):
    if "d" in letters and set(letters) != {"d"} and real_cpu_fails(op, letters):
        return "error"
    with FakeTensorMode():
        inputs = tensors(letters, "cuda")
        torch.set_autocast_enabled("cuda", True)
        try:
            return LETTERS[op(*inputs).dtype]
        except RuntimeError:
            return "error"
        finally:
            torch.set_autocast_enabled("cuda", False)


def main():
    logging.getLogger("torch._subclasses.fake_tensor").setLevel(logging.CRITICAL)
    torch.set_autocast_dtype("cuda", torch.float16)
    cases = [(name, op, letters) for name, op in UNARY.items() for letters in SINGLES]
    cases += [(name, UNARY[name], "i") for name in INTEGER]
    cases += [
        (name, op, letters) for name, op in BINARY.items() for letters in PAIRS_OF.get(name, PAIRS)
    ]
    cases += [(name, op, letters) for name, op in TERNARY.items() for letters in TRIPLES]
    rows = [
        dict(op=name, inputs=letters, output=output_dtype(op, letters))
        for name, op, letters in cases
    ]
    expected.write("autocast_dtypes.json", cases=rows)


if __name__ == "__main__":
    main()
