"""The loop of examples/amp_loops/clipping.cpp in Python gives the same bits as in C++."""

import math
import os
import subprocess

import pytest

import halfgrad as hg
from halfgrad import amp, nn, optim

STEPS = 40
BATCH, FEATURES, HIDDEN, LEARNING_RATE = 8, 8, 16, 0.125


def pattern(sizes, first, multiplier, divisor):
    count = math.prod(sizes)
    values = [((first + i) * multiplier % 61 - 30) / divisor for i in range(count)]
    return hg.tensor(values).view(sizes)


class Regression(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(FEATURES, HIDDEN)
        self.output = nn.Linear(HIDDEN, 1)
        with hg.no_grad():
            for parameter in self.parameters():
                parameter.copy_(pattern(parameter.shape, 1, 37, 64))

    def forward(self, x):
        return self.output(self.hidden(x).tanh())

    def batch(self, index):
        x = pattern((BATCH, FEATURES), index * BATCH * FEATURES, 29, 16)
        return x, x[:, 0:1] * x[:, 1:2] - x[:, 2:3]


def trace():
    model = Regression()
    optimizer = optim.SGD(model.parameters(), lr=LEARNING_RATE)
    scaler = amp.GradScaler(init_scale=2.0**24, growth_interval=4)
    for step in range(STEPS):
        x, y = model.batch(step)
        optimizer.zero_grad()
        with amp.autocast("cpu"):
            loss = nn.functional.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        outcome = scaler.step(optimizer)
        scaler.update()
        yield loss.item(), scaler.get_scale(), outcome.skipped(), norm.item()


def test_losses_are_those_of_cpp_bit_by_bit():
    program = os.environ.get("HALFGRAD_TRACE")
    if not program:
        pytest.skip("HALFGRAD_TRACE does not name the C++ program; tools/test-python builds it")
    lines = subprocess.run([program, str(STEPS)], capture_output=True, text=True, check=True).stdout
    expected = []
    for line in lines.splitlines():
        loss, scale, skipped, norm = line.split()
        expected.append((float.fromhex(loss), float.fromhex(scale), skipped == "1",
                         float.fromhex(norm) if norm not in ("nan", "-nan") else math.nan))
    found = list(trace())
    assert len(expected) == STEPS and any(step[2] for step in found)
    assert repr(found) == repr(expected)
