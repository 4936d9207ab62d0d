"""Writes init.json: the distributions from which nn.init draws. PyTorch 2.15.0.

    python init.py

`gains`: results of calculate_gain. `cases`: fan_in and fan_out of a shape, and for each function the
bounds of its uniform distribution or the mean and standard deviation of its normal distribution.
`layers`: the distributions of the parameters and buffers of new layers. The script replaces the
tensor's filling methods and records their arguments, so it draws no random number.
"""

import math
from unittest import mock

import torch
from torch import nn

import expected

SHAPES = [(512, 784), (10, 512), (1, 1), (3, 100), (6, 4, 3), (8, 2, 3, 5)]

GAINS = [("linear", None), ("sigmoid", None), ("tanh", None), ("relu", None), ("selu", None)] + [
    ("leaky_relu", slope) for slope in (None, 0.2, math.sqrt(5))
]

FUNCTIONS = [
    ("kaiming_uniform_", dict(a=math.sqrt(5))),
    ("kaiming_uniform_", dict(mode="fan_in", nonlinearity="relu")),
    ("kaiming_uniform_", dict(mode="fan_out", nonlinearity="relu")),
    ("kaiming_uniform_", dict(a=0.2)),
    ("kaiming_normal_", dict()),
    ("kaiming_normal_", dict(mode="fan_out", nonlinearity="tanh")),
    ("xavier_uniform_", dict()),
    ("xavier_uniform_", dict(gain=2.0)),
    ("xavier_normal_", dict()),
    ("xavier_normal_", dict(gain=0.5)),
    ("uniform_", dict()),
    ("uniform_", dict(a=-0.3, b=0.7)),
    ("normal_", dict()),
    ("normal_", dict(mean=1.0, std=0.02)),
]

LAYERS = [
    ("Linear", nn.Linear, (784, 512)),
    ("Linear", nn.Linear, (3, 100)),
    ("LayerNorm", nn.LayerNorm, (16,)),
    ("RMSNorm", nn.RMSNorm, (16,)),
    ("GroupNorm", nn.GroupNorm, (4, 16)),
    ("BatchNorm1d", nn.BatchNorm1d, (16,)),
    ("Embedding", nn.Embedding, (20, 8)),
]


def recorded_draws(run):
    """Runs `run`; returns the last call for each tensor (by id): uniform, normal or constant."""
    draws = {}

    def recorder(kind, *names):
        def draw(tensor, *args, generator=None, **kwargs):
            values = dict(zip(names, args)) | kwargs
            draws[id(tensor)] = dict(kind=kind, **{key: float(values[key]) for key in values})
            return tensor

        return draw

    replacements = dict(
        uniform_=recorder("uniform", "low", "high"),
        normal_=recorder("normal", "mean", "std"),
        fill_=recorder("constant", "value"),
        zero_=lambda tensor: tensor.fill_(0.0),
    )
    with mock.patch.multiple(torch.Tensor, **replacements):
        result = run()
    return result, draws


def case(name, options, shape):
    weight = torch.empty(shape)
    _, draws = recorded_draws(lambda: getattr(nn.init, name)(weight, **options))
    fan_in, fan_out = nn.init._calculate_fan_in_and_fan_out(weight)
    fans = dict(fan_in=fan_in, fan_out=fan_out)
    return dict(function=name, options=options, shape=list(shape), **fans, **draws[id(weight)])


def layer_parameters(name, make, sizes):
    layer, draws = recorded_draws(lambda: make(*sizes))
    return [
        dict(layer=name, sizes=list(sizes), tensor=tensor, **draws[id(values)])
        for tensor, values in layer.state_dict(keep_vars=True).items()
    ]


def main():
    expected.write(
        "init.json",
        gains=[
            dict(nonlinearity=name, param=param, gain=float(nn.init.calculate_gain(name, param)))
            for name, param in GAINS
        ],
        cases=[case(name, options, shape) for name, options in FUNCTIONS for shape in SHAPES],
        layers=[row for layer in LAYERS for row in layer_parameters(*layer)],
    )


if __name__ == "__main__":
    main()
