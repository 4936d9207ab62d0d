"""Writes multihead_attention.json: MultiheadAttention in float64. PyTorch 2.15.0, CPU.

    python multihead_attention.py

Each case has the options of the layer, its state dict, the inputs and masks, the output, the weights
(if needed), and the gradients of all parameters and inputs for the cotangent `cotangent` of the output.
A mask of bool is true where a key is hidden.
"""

import torch

import expected

torch.manual_seed(3)
L, S, N, E, H = 3, 4, 2, 6, 2
D = torch.float64

HIDDEN = torch.tensor([[False, True, False, True], [False, False, True, False], [True, False, False, False]])
PADDING = torch.tensor([[False, False, False, True], [False, True, False, False]])

CASES = [
    ("self", {}, dict(same=True)),
    ("self, batch first", dict(batch_first=True), dict(same=True, need_weights=False)),
    ("cross", {}, dict(attn_mask=HIDDEN)),
    ("cross without bias", dict(bias=False), dict(need_weights=False, attn_mask=HIDDEN)),
    ("other sizes", dict(kdim=5, vdim=3), dict(key_padding_mask=PADDING, average_attn_weights=False)),
    ("both masks", dict(batch_first=True), dict(key_padding_mask=PADDING, attn_mask=HIDDEN, need_weights=False)),
    ("a float mask for each head", {}, dict(attn_mask=torch.randn(N * H, L, S, dtype=D))),
    ("a float mask without weights", {}, dict(attn_mask=torch.randn(L, S, dtype=D), need_weights=False)),
    ("one sequence", {}, dict(one=True, attn_mask=HIDDEN)),
    ("a learned key", dict(add_bias_kv=True), dict(key_padding_mask=PADDING, attn_mask=HIDDEN)),
    ("a learned key, batch first", dict(add_bias_kv=True, batch_first=True), dict(same=True)),
    ("a key of zeros", dict(add_zero_attn=True), dict(attn_mask=torch.randn(N * H, L, S, dtype=D))),
    (
        "both keys, one sequence",
        dict(add_bias_kv=True, add_zero_attn=True),
        dict(one=True, need_weights=False, attn_mask=HIDDEN),
    ),
    ("both keys, no mask", dict(add_bias_kv=True, add_zero_attn=True, kdim=5), dict()),
]


def drawn(*sizes):
    return torch.randn(*sizes, dtype=D).requires_grad_()


def flat(x):
    return expected.numbers(x.detach().to(D).flatten())


def tensor(x):
    return dict(shape=list(x.shape), bool=x.dtype == torch.bool, values=flat(x))


def case(name, options, call):
    layer = torch.nn.MultiheadAttention(E, H, dtype=D, **options)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn_like(parameter))
    call = dict(call)
    same, one = call.pop("same", False), call.pop("one", False)
    first = options.get("batch_first", False)

    def operand(length, width):
        return drawn(length, width) if one else drawn(*((N, length) if first else (length, N)), width)

    query = operand(L, E)
    inputs = [query] if same else [query, operand(S, options.get("kdim", E)), operand(S, options.get("vdim", E))]
    output, weights = layer(*(inputs * 3 if same else inputs), **call)
    cotangent = torch.randn_like(output)
    output.backward(cotangent)
    return dict(
        name=name,
        options=options,
        state={key: tensor(value) for key, value in layer.state_dict().items()},
        inputs=[tensor(x) for x in inputs],
        masks={key: tensor(value) for key, value in call.items() if isinstance(value, torch.Tensor)},
        need_weights=call.get("need_weights", True),
        average_attn_weights=call.get("average_attn_weights", True),
        output=tensor(output),
        weights=None if weights is None else tensor(weights),
        cotangent=flat(cotangent),
        gradients={key: flat(value.grad) for key, value in layer.named_parameters()},
        input_gradients=[flat(x.grad) for x in inputs],
    )


if __name__ == "__main__":
    expected.write("multihead_attention.json", cases=[case(*row) for row in CASES])
