import torch
import torch.nn as nn

batch_size, rows, columns, depth = 3, 5, 12, 12


class Model(nn.Module):
    def forward(self, x, w):
        return torch.einsum("bil,lk->bik", x, w)


def get_inputs():
    return [torch.rand(batch_size, rows, depth), torch.rand(depth, columns)]


def get_init_inputs():
    return []
