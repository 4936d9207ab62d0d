"""Writes trajectory_data.json: weights and batches of the trajectory tests. PyTorch 2.15.0.

    python trajectory_data.py

The network is 16-32-32-10 (Linear, ReLU, Linear, ReLU, Linear); there are 50 batches of 8.
Inputs are noisy class centres, and one label in five is random, so that the loss falls but never
vanishes. Inputs are multiples of 1/64 and weights multiples of 1/1024, which are exact in f16, f32
and f64.
"""

import torch
from torch import nn

import expected

SIZES = (16, 32, 32, 10)
STEPS, BATCH = 50, 8
SEED = 387  # one of the first seeds that pass the assertions of trajectory_amp.py

OPTIMIZERS = {
    "sgd_momentum": (torch.optim.SGD, dict(lr=0.05, momentum=0.9)),
    "sgd_nesterov_weight_decay": (
        torch.optim.SGD,
        dict(lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.01),
    ),
    "adam": (torch.optim.Adam, dict(lr=0.01)),
    "adamw": (torch.optim.AdamW, dict(lr=0.01, weight_decay=0.1)),
}


def on_grid(values, step):
    return torch.round(values / step) * step


def generate(seed=SEED):
    random = torch.Generator().manual_seed(seed)
    centres = torch.randn(SIZES[-1], SIZES[0], generator=random)
    classes = torch.randint(SIZES[-1], (STEPS, BATCH), generator=random)
    inputs = centres[classes] + 0.5 * torch.randn(STEPS, BATCH, SIZES[0], generator=random)
    noise = torch.rand(STEPS, BATCH, generator=random) < 0.2
    labels = torch.where(noise, torch.randint(SIZES[-1], (STEPS, BATCH), generator=random), classes)
    parameters = []
    for fan_in, fan_out in zip(SIZES, SIZES[1:]):
        for shape in ((fan_out, fan_in), (fan_out,)):
            uniform = 2 * torch.rand(shape, generator=random) - 1
            parameters.append(on_grid(uniform / fan_in**0.5, 1 / 1024))
    return parameters, on_grid(inputs, 1 / 64), labels


def load(dtype):
    """Returns the stored parameters, inputs [step, batch, feature] and labels [step, batch]."""
    data = expected.read("trajectory_data.json")
    parameters = [torch.tensor(values, dtype=dtype) for values in data["parameters"]]
    return parameters, torch.tensor(data["inputs"], dtype=dtype), torch.tensor(data["labels"])


def mlp(parameters):
    layers = []
    for fan_in, fan_out in zip(SIZES, SIZES[1:]):
        layers += [nn.Linear(fan_in, fan_out, dtype=parameters[0].dtype), nn.ReLU()]
    model = nn.Sequential(*layers[:-1])
    with torch.no_grad():
        for parameter, values in zip(model.parameters(), parameters):
            parameter.copy_(values)
    return model


def sum_of_squares(model):
    return sum(parameter.double().square().sum().item() for parameter in model.parameters())


if __name__ == "__main__":
    parameters, inputs, labels = generate()
    expected.write(
        "trajectory_data.json",
        sizes=list(SIZES),
        parameters=[values.tolist() for values in parameters],
        inputs=inputs.tolist(),
        labels=labels.tolist(),
    )
