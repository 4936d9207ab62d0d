"""Writes transformer.json: the modules of a Transformer in float64. PyTorch 2.15.0, CPU.

    python transformer.py

Each case has the module, its options, its state dict, the inputs and masks, the output, and the gradients of all
parameters and inputs for the cotangent `cotangent` of the output. A mask of bool is true where a key is hidden.
"""

import torch

import expected

torch.manual_seed(5)
S, T, N, E, H, F = 3, 2, 2, 4, 2, 3
D = torch.float64

LAYER = dict(dim_feedforward=F, dropout=0.0)
CAUSAL = {length: torch.nn.Transformer.generate_square_subsequent_mask(length, dtype=D) for length in (S, T)}
HIDDEN = torch.tensor([[False, True, False], [False, False, True]])
PADDING = torch.tensor([[False, False, True], [False, True, False]])
GELU = torch.nn.GELU()

CASES = [
    ("encoder layer", {}, {}),
    ("encoder layer", dict(norm_first=True, activation="gelu"), dict(src_mask=CAUSAL[S])),
    ("encoder layer", dict(batch_first=True, layer_norm_eps=0.5), dict(src_key_padding_mask=PADDING)),
    ("encoder layer", dict(bias=False), dict(one=True)),
    ("decoder layer", {}, {}),
    ("decoder layer", dict(norm_first=True, bias=False), dict(tgt_mask=CAUSAL[T], memory_mask=HIDDEN)),
    ("decoder layer", dict(batch_first=True, activation="gelu"), dict(memory_key_padding_mask=PADDING)),
    ("encoder", {}, dict(src_key_padding_mask=PADDING)),
    ("decoder", dict(norm_first=True), dict(tgt_mask=CAUSAL[T])),
    ("transformer", {}, dict(tgt_mask=CAUSAL[T])),
    ("transformer", dict(batch_first=True, norm_first=True), dict(src_key_padding_mask=PADDING)),
]


def short(x):
    """Rounds to multiples of 1/8, which take few characters."""
    return x.mul(8).round().div(8)


def flat(x):
    return expected.numbers(x.detach().to(D).flatten())


def tensor(x):
    return dict(shape=list(x.shape), bool=x.dtype == torch.bool, values=flat(x))


def module_of(kind, options):
    options = dict(options, dtype=D, **LAYER)
    if options.get("activation") == "gelu":
        options["activation"] = GELU
    if kind == "transformer":
        return torch.nn.Transformer(E, H, num_encoder_layers=2, num_decoder_layers=1, **options)
    if kind.startswith("encoder"):
        layer = torch.nn.TransformerEncoderLayer(E, H, **options)
        stack = torch.nn.TransformerEncoder
    else:
        layer = torch.nn.TransformerDecoderLayer(E, H, **options)
        stack = torch.nn.TransformerDecoder
    return layer if kind.endswith("layer") else stack(layer, 2, torch.nn.LayerNorm(E, dtype=D))


def case(kind, options, masks):
    module = module_of(kind, options)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(short(torch.randn_like(parameter)))
    masks = dict(masks)
    one, first = masks.pop("one", False), options.get("batch_first", False)

    def operand(length):
        sizes = (length,) if one else (N, length) if first else (length, N)
        return short(torch.randn(*sizes, E, dtype=D)).requires_grad_()

    inputs = [operand(S)] if kind.startswith("encoder") else [operand(T), operand(S)]
    if kind == "transformer":
        inputs.reverse()
    names = {"encoder": dict(src_mask="mask")}.get(kind, {})
    output = module(*inputs, **{names.get(key, key): value for key, value in masks.items()})
    cotangent = short(torch.randn_like(output))
    output.backward(cotangent)
    return dict(
        module=kind,
        options=options,
        state={key: tensor(value) for key, value in module.state_dict().items()},
        inputs=[tensor(x) for x in inputs],
        masks={key: tensor(value) for key, value in masks.items()},
        output=tensor(output),
        cotangent=flat(cotangent),
        gradients={key: flat(value.grad) for key, value in module.named_parameters()},
        input_gradients=[flat(x.grad) for x in inputs],
    )


if __name__ == "__main__":
    expected.write("transformer.json", cases=[case(*row) for row in CASES])
