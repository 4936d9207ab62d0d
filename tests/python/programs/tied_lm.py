"""A language model whose output layer shares the embedding's weight, with causal attention."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from arrays import integers, weights

VOCABULARY, LENGTH, WIDTH, HEADS = 11, 8, 16, 2


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1 = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.proj = nn.Linear(WIDTH, WIDTH)
        self.ln2 = nn.LayerNorm(WIDTH, eps=1e-6)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(approximate="tanh"),
                                 nn.Linear(4 * WIDTH, WIDTH))
        self.register_buffer("mask", torch.tril(torch.ones(LENGTH, LENGTH)).view(1, 1, LENGTH, LENGTH))

    def attend(self, x):
        b, t, c = x.size()
        q, k, v = self.qkv(x).split(WIDTH, dim=2)
        q, k, v = (m.view(b, t, HEADS, c // HEADS).transpose(1, 2) for m in (q, k, v))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        scores = scores.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
        y = F.softmax(scores, dim=-1) @ v
        return self.proj(y.transpose(1, 2).contiguous().view(b, t, c))

    def forward(self, x):
        x = x + self.attend(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(VOCABULARY, WIDTH)
        self.wpe = nn.Parameter(torch.zeros(LENGTH, WIDTH))
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, tokens, targets=None):
        x = self.wte(tokens) + self.wpe[:tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits = self.head(x)
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1))


def groups(model):
    decay = [p for n, p in model.named_parameters() if p.dim() >= 2]
    rest = [p for n, p in model.named_parameters() if p.dim() < 2]
    return [{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}]


@torch.no_grad()
def generate(model, tokens, count):
    for _ in range(count):
        logits, _ = model(tokens[:, -LENGTH:])
        following = torch.topk(logits[:, -1, :], k=1).indices
        tokens = torch.cat((tokens, following), dim=1)
    return tokens


def main(seed):
    text = torch.from_numpy(integers(seed, VOCABULARY, 4, LENGTH + 1)).long()
    model = LanguageModel()
    assert model.head.weight is model.wte.weight
    assert len(list(model.parameters())) == len(model.state_dict()) - 3  # one tied, two masks
    model.load_state_dict({k: torch.tensor(v) for k, v in weights(model, seed).items()}, strict=False)
    optimizer = torch.optim.AdamW(groups(model), lr=3e-3, betas=(0.9, 0.95))
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 5))
    losses = []
    for step in range(15):
        _, loss = model(text[:, :-1], text[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
        scheduler.step()
        losses += [loss.item(), norm.item()]
    model.eval()
    losses += generate(model, text[:1, :2], 6)[0].tolist()
    return losses
