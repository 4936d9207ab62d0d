import torch
import torch.nn as nn

batch_size, length, width, heads = 2, 12, 8, 2


class Model(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width, bias=False)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.project(x).split(width, dim=2)
        q, k, v = (y.view(batch, length, self.heads, -1).transpose(1, 2) for y in (q, k, v))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / (width // self.heads) ** 0.5)
        seen = torch.tril(torch.ones(length, length, device=x.device))
        scores = scores.masked_fill(seen == 0, float("-inf"))
        y = torch.softmax(scores, dim=-1) @ v
        return y.transpose(1, 2).contiguous().view(batch, length, width)


def get_inputs():
    return [torch.rand(batch_size, length, width)]


def get_init_inputs():
    return [width, heads]
