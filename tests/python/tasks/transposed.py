import torch
import torch.nn as nn

batch_size, channels, size = 2, 4, 6


class Model(nn.Module):
    def __init__(self, channels, outside):
        super().__init__()
        self.conv = nn.ConvTranspose2d(channels, outside, 3, stride=2, padding=1, output_padding=1, groups=2)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.rand(batch_size, channels, size, size)]


def get_init_inputs():
    return [channels, 6]
