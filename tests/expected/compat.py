"""Writes compat.json: values and gradients of libtorch's rarer functions. PyTorch 2.15.0.

    python compat.py

Each case has the inputs in float64, the outputs, and the gradients of every floating-point input
for the cotangent `cotangent`.
"""

import torch
from torch.nn import functional as F

import expected

torch.manual_seed(1)
X = torch.randn(3, 4, dtype=torch.float64) * 3
Y = torch.randn(3, 4, dtype=torch.float64)
Z = torch.randn(3, 4, dtype=torch.float64)
SIGNS = torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64)
CLASSES = torch.tensor([2, 0, 3])
LABELS = torch.tensor([[1, 3, -1, 0], [-1, 2, 2, 2], [0, 1, 2, 3]])
ZERO_ONE = (Y > 0).to(torch.float64)
COUNTS = torch.tensor([[0.0, 1.0, 2.0, 5.0]], dtype=torch.float64).repeat(3, 1)
WEIGHT = torch.tensor([0.5, 2.0, 1.0, 1.5], dtype=torch.float64)
TABLE = torch.randn(5, 3, dtype=torch.float64)
INDICES = torch.tensor([[1, 2, 1], [4, 0, 3]])
FLAT = torch.tensor([1, 2, 4, 4, 0, 3])
OFFSETS = torch.tensor([0, 2, 2, 5])
SAMPLE_WEIGHTS = torch.rand(2, 3, dtype=torch.float64)

CASES = [
    ("selu", lambda x: F.selu(x), [X]),
    ("celu", lambda x: F.celu(x, 0.7), [X]),
    ("hardtanh", lambda x: F.hardtanh(x, -0.5, 2), [X]),
    ("relu6", lambda x: F.relu6(x), [X * 3]),
    ("hardshrink", lambda x: F.hardshrink(x, 0.8), [X]),
    ("hardsigmoid", lambda x: F.hardsigmoid(x), [X]),
    ("hardswish", lambda x: F.hardswish(x), [X]),
    ("tanhshrink", lambda x: F.tanhshrink(x), [X]),
    ("softsign", lambda x: F.softsign(x), [X]),
    ("log_sigmoid", lambda x: F.logsigmoid(x), [X]),
    ("mish", lambda x: F.mish(x), [X]),
    ("threshold", lambda x: F.threshold(x, 0.3, 20), [X]),
    ("prelu", lambda x, w: F.prelu(x, w), [X, WEIGHT]),
    ("rrelu", lambda x: F.rrelu(x), [X]),
    ("glu", lambda x: F.glu(x, 1), [X]),
    ("softmin", lambda x: F.softmin(x, 1), [X]),
    ("normalize", lambda x: F.normalize(x, 3.0, 1), [X]),
    ("cosine_similarity", lambda x, y: F.cosine_similarity(x, y), [X, Y]),
    ("pairwise_distance", lambda x, y: F.pairwise_distance(x, y, 1.0), [X, Y]),
    ("bilinear", lambda x, y, w, b: F.bilinear(x, y, w, b),
     [X, Y[:, :2], torch.randn(3, 4, 2, dtype=torch.float64), SIGNS]),
    ("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b), [X, WEIGHT, WEIGHT - 1]),
    ("hinge_embedding_loss", lambda x, t: F.hinge_embedding_loss(x, t, margin=1.5),
     [X, ZERO_ONE * 2 - 1]),
    ("margin_ranking_loss", lambda x, y, t: F.margin_ranking_loss(x, y, t, margin=0.4),
     [X[:, 0], Y[:, 0], SIGNS]),
    ("cosine_embedding_loss",
     lambda x, y, t: F.cosine_embedding_loss(x, y, t, margin=-0.5, reduction="sum"),
     [X, Y, SIGNS]),
    ("triplet_margin_loss",
     lambda a, p, n: F.triplet_margin_loss(a, p, n, margin=2, swap=True, reduction="none"),
     [X, Y, Z]),
    ("triplet_margin_with_distance_loss",
     lambda a, p, n: F.triplet_margin_with_distance_loss(a, p, n), [X, Y, Z]),
    ("soft_margin_loss", lambda x, t: F.soft_margin_loss(x, t), [X, ZERO_ONE * 2 - 1]),
    ("multi_margin_loss", lambda x, t, w: F.multi_margin_loss(x, t, 2, 0.7, w),
     [X, CLASSES, WEIGHT]),
    ("multilabel_margin_loss", lambda x, t: F.multilabel_margin_loss(x, t, reduction="none"),
     [X, LABELS]),
    ("multilabel_soft_margin_loss", lambda x, t, w: F.multilabel_soft_margin_loss(x, t, w),
     [X, ZERO_ONE, WEIGHT]),
    ("poisson_nll_loss", lambda x, t: F.poisson_nll_loss(x, t, full=True), [X, COUNTS]),
    ("poisson_nll_loss of rates", lambda x, t: F.poisson_nll_loss(x, t, log_input=False),
     [X.abs(), COUNTS]),
    ("kl_div", lambda x, t: F.kl_div(x, t, reduction="batchmean"),
     [F.log_softmax(X, 1), F.softmax(Y, 1)]),
    ("embedding_bag of sums", lambda w, p: F.embedding_bag(INDICES, w, mode="sum",
                                                         per_sample_weights=p),
     [TABLE, SAMPLE_WEIGHTS]),
    ("embedding_bag of means", lambda w: F.embedding_bag(FLAT, w, OFFSETS, mode="mean",
                                                       padding_idx=4), [TABLE]),
    ("embedding_bag of maxima", lambda w: F.embedding_bag(FLAT, w, OFFSETS, mode="max"), [TABLE]),
    ("cross", lambda x, y: torch.linalg.cross(x, y, dim=0), [X, Y]),
]

# A gradient with respect to these is not defined.
NO_GRADIENT = {
    "multi_margin_loss": [2], "multilabel_soft_margin_loss": [1, 2], "poisson_nll_loss": [1],
    "poisson_nll_loss of rates": [1], "hinge_embedding_loss": [1], "margin_ranking_loss": [2],
    "cosine_embedding_loss": [2], "soft_margin_loss": [1], "kl_div": [1],
}


def case(name, function, inputs):
    leaves = [
        x.clone().requires_grad_(x.is_floating_point() and i not in NO_GRADIENT.get(name, []))
        for i, x in enumerate(inputs)
    ]
    output = function(*leaves)
    cotangent = torch.randn_like(output)
    output.backward(cotangent)
    flat = lambda x: expected.numbers(x.detach().flatten())
    return dict(
        name=name,
        inputs=[dict(shape=list(x.shape), integer=not x.is_floating_point(), values=flat(x))
                for x in inputs],
        shape=list(output.shape),
        output=flat(output),
        cotangent=flat(cotangent),
        gradients=[flat(x.grad) if x.grad is not None else [] for x in leaves],
    )


if __name__ == "__main__":
    expected.write("compat.json", cases=[case(*row) for row in CASES])
