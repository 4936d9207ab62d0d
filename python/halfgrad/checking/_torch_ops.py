"""Elementwise ops and products of PyTorch, computed with halfgrad.reference."""

from .. import reference as hr
from ._torch_registry import OPS, expect, is_array, op

for _name in ("abs", "exp", "log", "sqrt", "rsqrt", "tanh", "erf", "sigmoid", "relu", "silu", "square", "maximum",
              "minimum", "where", "masked_fill", "matmul", "gather", "logsumexp"):
    OPS[_name] = getattr(hr, _name)
for _name in ("mm", "bmm", "mv", "dot"):
    OPS[_name] = hr.matmul
OPS["absolute"] = hr.abs


@op
def neg(x):
    return -x


@op(names=("add", "__add__", "__radd__"))
def add(x, other, alpha=1):
    return x + (other if alpha == 1 else other * alpha)


@op(names=("sub", "subtract"))
def sub(x, other, alpha=1):
    return x - (other if alpha == 1 else other * alpha)


@op(names=("rsub",))
def rsub(x, other, alpha=1):
    return sub(other, x, alpha)


@op(names=("mul", "multiply"))
def mul(x, other):
    return x * other


@op(names=("div", "true_divide", "divide"))
def div(x, other):
    return x / other


@op
def reciprocal(x):
    return 1.0 / x


@op
def pow_(x, exponent):
    if exponent == 0.5:
        return hr.sqrt(x)
    if exponent == -0.5:
        return hr.rsqrt(x)
    expect(is_array(x) and not is_array(exponent) and exponent == int(exponent),
            f"pow with the exponent {exponent}")
    return hr.pow(x, int(exponent))


for _name, _compare in {"lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b,
                        "ge": lambda a, b: a >= b, "eq": lambda a, b: a == b}.items():
    OPS[_name] = _compare


@op(names=("ne",))
def ne(a, b):
    return 1.0 - (a == b)


@op(names=("clamp", "clip"))
def clamp(x, min=None, max=None):
    expect(not is_array(min) and not is_array(max), "clamp by tensors")
    return hr.clamp(x, min=min, max=max)


@op
def clamp_min(x, min):
    return clamp(x, min=min)


@op
def clamp_max(x, max):
    return clamp(x, max=max)


@op
def gelu(x, approximate="none"):
    return hr.gelu(x, approximate=approximate)


@op
def leaky_relu(x, negative_slope=0.01):
    return hr.where(x > 0.0, x, hr.constant(x, negative_slope) * x)


def _scaled_exponential(x, scale, alpha):
    below = hr.constant(x, scale * alpha) * (hr.exp(hr.minimum(x, hr.zeros_like(x))) - 1.0)
    above = x if scale == 1 else hr.constant(x, scale) * x
    return hr.where(x > 0.0, above, below)


@op
def elu(x, alpha=1.0):
    return _scaled_exponential(x, 1, alpha)


@op
def selu(x):
    return _scaled_exponential(x, 1.0507009873554804934193349852946, 1.6732632423543772848170429916717)


@op
def hardtanh(x, min_val=-1.0, max_val=1.0):
    return hr.clamp(x, min=min_val, max=max_val)


@op
def relu6(x):
    return hr.clamp(x, min=0.0, max=6.0)


@op
def hardsigmoid(x):
    return hr.clamp(x + 3.0, min=0.0, max=6.0) / 6.0


@op
def hardswish(x):
    return x * hr.clamp(x + 3.0, min=0.0, max=6.0) / 6.0


@op
def softplus(x, beta=1.0, threshold=20.0):
    scaled = x if beta == 1 else x * float(beta)
    soft = hr.maximum(scaled, hr.zeros_like(x)) + hr.log(1.0 + hr.exp(-hr.abs(scaled)))
    usual = hr.log(1.0 + hr.exp(hr.minimum(scaled, hr.constant(scaled, threshold))))
    usual = hr.where(scaled > float(threshold), scaled, usual)
    soft = hr.either(soft, usual)
    return soft if beta == 1 else soft / float(beta)


@op
def softsign(x):
    return x / (1.0 + hr.abs(x))


@op
def mish(x):
    return x * hr.tanh(softplus(x))


@op(names=("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout"))
def dropout(x, p=0.5, training=True):
    expect(not training or p == 0, "dropout in training, which halfgrad.check_dropout judges")
    return x





@op
def linear(x, weight, bias=None):
    return hr.linear(x, weight, bias)


@op
def addmm(x, a, b, beta=1, alpha=1):
    product = a @ b if alpha == 1 else a @ b * float(alpha)
    return product + (x if beta == 1 else x * float(beta))


OPS["baddbmm"] = addmm


@op
def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False,
                                 scale=None):
    expect(attn_mask is None and dropout_p == 0 and scale is None,
            "scaled_dot_product_attention with a mask, dropout or a scale")
    batch = query.shape[:-2]
    flat = [hr.reshape(x, [-1, *x.shape[-2:]]) for x in (query, key, value)]
    output = hr.scaled_dot_product_attention(*flat, is_causal=is_causal)[0]
    return hr.reshape(output, [*batch, query.shape[-2], value.shape[-1]])


@op
def embedding(index, weight, padding_idx=-1, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    rows = hr.index_select(weight, 0, hr.reshape(index, [-1]))
    return hr.reshape(rows, [*index.shape, weight.shape[1]])


@op
def index_select(x, dim, index):
    return hr.index_select(x, dim, index)
