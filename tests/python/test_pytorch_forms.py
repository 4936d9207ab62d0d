"""Forms and options of PyTorch whose results are no fixed values; see test_expressions.py."""

import pickle

import numpy as np
import pytest

import halfgrad as hg
from halfgrad import nn
from halfgrad.nn import functional as F

DRAWS = [
    lambda g: hg.rand(3, generator=g), lambda g: hg.randn((3,), generator=g, dtype=hg.float16),
    lambda g: hg.randint(0, 1000, (3,), generator=g), lambda g: hg.randint(1000, (3,), generator=g),
    lambda g: hg.randperm(50, generator=g), lambda g: hg.normal(0.0, 1.0, (3,), generator=g),
    lambda g: hg.normal(hg.zeros(3), 2.0, generator=g), lambda g: hg.zeros(3).normal_(generator=g),
    lambda g: hg.zeros(3).uniform_(2, 3, generator=g), lambda g: hg.zeros(3).random_(generator=g),
    lambda g: hg.zeros(3).random_(5, 5000, generator=g),
    lambda g: hg.bernoulli(hg.full((50,), 0.5), generator=g),
    lambda g: hg.zeros(50).bernoulli_(0.5, generator=g),
    lambda g: hg.multinomial(hg.ones(500), 3, generator=g),
    lambda g: nn.init.xavier_normal_(hg.empty(2, 2), generator=g),
    lambda g: nn.init.kaiming_uniform_(hg.empty(2, 2), generator=g),
    lambda g: nn.init.normal_(hg.empty(3), generator=g),
    lambda g: nn.init.trunc_normal_(hg.empty(3), generator=g),
]


@pytest.mark.parametrize("draw", DRAWS)
def test_draws_depend_on_the_generator_alone(draw):
    state = hg.get_rng_state()
    first, again, other = (draw(hg.Generator().manual_seed(seed)) for seed in (5, 5, 6))
    assert hg.equal(first, again) and not hg.equal(first, other)
    assert hg.equal(state, hg.get_rng_state())
    draw(None)
    assert not hg.equal(state, hg.get_rng_state())


def test_distributions_of_draws():
    hg.manual_seed(1)
    p = hg.tensor([0.0, 0.2, 1.0]).expand(10000, 3)
    shares = hg.zeros(10000, 3).bernoulli_(p).mean(0).tolist()
    assert shares[0] == 0 and abs(shares[1] - 0.2) < 0.02 and shares[2] == 1
    values = nn.init.trunc_normal_(hg.empty(20000), std=2.0, a=-1.0, b=3.0)
    assert values.min() >= -1 and values.max() <= 3
    # Mean and deviation of the normal distribution truncated to [-0.5, 1.5] deviations.
    assert abs(values.mean().item() - 0.7126) < 0.03 and abs(values.std().item() - 1.0588) < 0.03
    with pytest.raises(ValueError, match="trunc_normal_: expected an interval"):
        nn.init.trunc_normal_(hg.empty(2), a=5.0, b=6.0)
    drawn = list(hg.utils.data.WeightedRandomSampler([0.0, 3.0, 1.0], 4000))
    assert 0 not in drawn and abs(drawn.count(1) / 4000 - 0.75) < 0.05
    assert sorted(hg.utils.data.SubsetRandomSampler([3, 5, 7])) == [3, 5, 7]
    assert set(hg.randint_like(hg.zeros(100), 2, 4).tolist()) == {2.0, 3.0}
    hard = F.gumbel_softmax(hg.zeros(3000, 2), hard=True)
    assert abs(hard[:, 0].mean().item() - 0.5) < 0.05
    dropped = F.dropout1d(hg.ones(500, 4, 3), 0.25)
    assert dropped.unique().tolist() == [0, pytest.approx(4 / 3)]
    assert hg.equal(dropped[..., 0], dropped[..., 2])


def test_a_number_may_be_a_tensor_without_dimensions_and_without_gradient():
    two = hg.tensor(2.0)
    assert hg.zeros(2).fill_(two).tolist() == [2, 2] and hg.full((1,), hg.tensor(3)).dtype == hg.int64
    assert hg.ones(1).add(hg.ones(1), alpha=hg.tensor(2)).item() == 3
    for wrong in (hg.ones(1), hg.tensor(2.0, requires_grad=True)):
        with pytest.raises(TypeError):
            hg.zeros(2).fill_(wrong)


def test_arrays_of_numpy_as_second_operands():
    x, array = hg.ones(2), np.array([1.0, 3.0], np.float32)
    assert (x == array).tolist() == [True, False] and (x + array).tolist() == [2, 4]
    assert (x != np.float32(1)).tolist() == [False, False]
    same = x
    x *= array
    assert x is same and same.tolist() == [1, 3]
    assert (x == "text") is False


def test_inplace_layers_overwrite_their_input():
    for layer in (nn.ReLU(inplace=True), nn.SiLU(True), nn.LeakyReLU(0.5, True), nn.ELU(1.0, True),
                  nn.Dropout(1.0, True), nn.Hardtanh(-0.5, 0.5, True), nn.ReLU6(True)):
        x = hg.tensor([-1.0, 2.0])
        y = layer(x)
        assert hg.equal(x, y) and x.tolist() != [-1, 2] and layer.inplace
    x = hg.tensor([-1.0, 2.0], requires_grad=True)
    F.leaky_relu(x * 1, 0.5, inplace=True).sum().backward()
    assert x.grad.tolist() == [0.5, 1]


def test_full_backward_hooks():
    calls = []
    net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    net[1].register_full_backward_hook(lambda module, inputs, outputs: calls.append(
        (type(module).__name__, len(inputs), outputs[0].tolist())))
    handle = net[0].register_full_backward_hook(lambda m, inputs, outputs: (inputs[0] * 0,))
    net[1].register_full_backward_pre_hook(lambda module, outputs: (outputs[0] * 2,))
    x = hg.ones(1, 2, requires_grad=True)
    net(x).sum().backward()
    assert calls == [("Tanh", 1, [[2.0, 2.0]])] and x.grad.tolist() == [[0, 0]]
    weights = net[0].weight.grad.clone()
    handle.remove()
    net.zero_grad()
    net(x).sum().backward()
    assert hg.equal(weights, net[0].weight.grad) and x.grad.abs().sum() > 0

    first = []
    net[0].register_full_backward_hook(lambda module, inputs, outputs: first.append(inputs))
    net(hg.ones(1, 2)).sum().backward()
    assert first == [(None,)]
    with hg.no_grad():
        net(hg.ones(1, 2))
    assert len(first) == 1


def test_modes_of_one_module():
    net = nn.Sequential(nn.Dropout(), nn.Sequential(nn.Dropout()))
    net[1].training = False
    assert net.training and net[0].training and net[1][0].training and not net[1].training
    net.training = False
    assert net[0].training and net[1][0].training and not net.training


def test_layers_and_losses_are_complete():
    activations = """ELU Hardshrink Hardsigmoid Hardtanh Hardswish LeakyReLU LogSigmoid PReLU ReLU ReLU6
        RReLU SELU CELU GELU Sigmoid SiLU Mish Softplus Softshrink Softsign Tanh Tanhshrink
        Threshold GLU Softmin Softmax LogSoftmax""".split()
    losses = """L1 MSE CrossEntropy NLL PoissonNLL GaussianNLL KLDiv BCE BCEWithLogits MarginRanking
        HingeEmbedding MultiLabelMargin Huber SmoothL1 SoftMargin MultiLabelSoftMargin CosineEmbedding
        MultiMargin TripletMargin TripletMarginWithDistance""".split()
    missing = {*activations, *(f"{name}Loss" for name in losses)} - set(nn.__all__)
    assert not missing
    for layer in (nn.PReLU(3), nn.Bilinear(2, 3, 4), nn.Hardtanh(-2.0, 2.0), nn.Unflatten(1, (2, 2)),
                  nn.CrossEntropyLoss(label_smoothing=0.1), nn.ReLU(inplace=True)):
        again = pickle.loads(pickle.dumps(layer))
        assert repr(again) == repr(layer)
        assert [hg.equal(a, b) for a, b in zip(again.parameters(), layer.parameters())] == [
            True] * len(list(layer.parameters()))


def test_gradcheck_finds_a_wrong_gradient():
    class Wrong(hg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x ** 3

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return gradient * x ** 2 * 2

    x = hg.tensor([1.0, 2.0], dtype=hg.float64, requires_grad=True)
    assert hg.autograd.gradcheck(lambda a: a ** 3, x)
    assert hg.autograd.gradgradcheck(lambda a: (a ** 3).sin(), (x,))
    with pytest.raises(RuntimeError, match="gradcheck: expected the gradient"):
        hg.autograd.gradcheck(Wrong.apply, x)
    assert not hg.autograd.gradcheck(Wrong.apply, x, raise_exception=False)
    with pytest.raises(ValueError, match="gradcheck: expected inputs of float64"):
        hg.autograd.gradcheck(lambda a: a, hg.ones(1, requires_grad=True))


COMPOSED = [
    lambda x: x.cumprod(0), lambda x: x.cummax(1).values, lambda x: x.median(1).values,
    lambda x: x.quantile(0.3, 0), lambda x: x.kthvalue(2, 1).values, lambda x: x.unfold(1, 2, 1),
    lambda x: x.repeat_interleave(2, 1), lambda x: x.scatter(1, hg.tensor([[1], [0]]), 2.0),
    lambda x: hg.zeros(2, 3, dtype=hg.float64).index_add(1, hg.tensor([0, 0, 2]), x, alpha=3),
    lambda x: hg.zeros(2, 3, dtype=hg.float64).index_copy(1, hg.tensor([2, 0, 1]), x),
    lambda x: hg.zeros(9, dtype=hg.float64).masked_scatter(hg.arange(9) % 2 == 0, x),
    lambda x: hg.tensordot(x, x, dims=([0], [0])), lambda x: hg.kron(x, x), lambda x: x.inner(x),
    lambda x: hg.cdist(x, x * 2 + 1), lambda x: hg.logaddexp(x, x * 2), lambda x: x.sigmoid().logit(),
    lambda x: F.pad(x, (2, 1), mode="reflect"), lambda x: F.pad(x, (1, -1, 0, 2), value=3.0),
    lambda x: F.gaussian_nll_loss(x, x * 0, x * x + 1, reduction="none"), lambda x: hg.linalg.norm(x),
    lambda x: F.mish(x), lambda x: F.celu(x - 1, 2.0), lambda x: F.glu(x[:, :2]), lambda x: F.softmin(x, 1),
    lambda x: F.cosine_similarity(x, x * x), lambda x: F.triplet_margin_loss(x, x * 2, x * x, 5.0),
    lambda x: hg.trapezoid(x, hg.tensor([0.0, 1.0, 4.0]).double()), lambda x: hg.var_mean(x)[0],
]


@pytest.mark.parametrize("function", COMPOSED)
def test_gradients_of_composed_functions(function):
    x = hg.tensor([[0.5, 1.7, 1.1], [2.3, 0.9, 3.1]], dtype=hg.float64, requires_grad=True)
    assert hg.autograd.gradcheck(function, x)


def test_once_differentiable():
    class Square(hg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @hg.autograd.once_differentiable
        def backward(ctx, gradient):
            assert not hg.is_grad_enabled()
            return gradient * 2 * ctx.saved_tensors[0]

    x = hg.tensor([3.0], requires_grad=True)
    (first,) = hg.autograd.grad(Square.apply(x) * x, x, create_graph=True)
    assert first.item() == 27
    with pytest.raises(RuntimeError, match="once_differentiable"):
        hg.autograd.grad(first, x)


def test_assert_close_names_the_element():
    hg.testing.assert_close({"a": [hg.ones(2), 1.5]}, {"a": [hg.ones(2) + 1e-6, 1.5]})
    for actual, expected, text in [
            (hg.ones(2), hg.ones(3), "expected shape"), (hg.ones(2), hg.ones(2).double(), "float64"),
            (hg.ones(2), hg.tensor([1.0, 1.1]), r"at \(1,\), got 1.0; 1 of 2 elements differ"),
            (hg.tensor(float("nan")), hg.tensor(float("nan")), "nan")]:
        with pytest.raises(AssertionError, match=text):
            hg.testing.assert_close(actual, expected)
    hg.testing.assert_close(hg.ones(2), hg.ones(2).double() + 0.01, rtol=0, atol=0.1, check_dtype=False)


def test_optimizers_take_pytorch_hooks_and_closures():
    p = nn.Parameter(hg.ones(1))
    optimizer = hg.optim.SGD([p], lr=0.5)
    calls = []
    optimizer.register_step_pre_hook(lambda o, args, kwargs: calls.append((o is optimizer, args, kwargs)))
    optimizer.register_step_post_hook(lambda o: calls.append("one argument"))

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss.item()

    assert float(optimizer.step(closure)) == 1 and p.item() == 0
    assert calls == [(True, (), {}), "one argument"]
    group = optimizer.param_groups[0]
    group.update({"lr": 0.25}, momentum=0.5)
    assert (group["lr"], group["momentum"], group.setdefault("lr", 3.0)) == (0.25, 0.5, 0.25)
    with pytest.raises(ValueError, match="lr_scheduler: expected last_epoch=-1, got 3"):
        hg.optim.lr_scheduler.StepLR(optimizer, 2, last_epoch=3)


def test_small_switches():
    assert hg.get_float32_matmul_precision() == "highest"
    hg.set_float32_matmul_precision("high")
    assert hg.backends.cuda.matmul.allow_tf32
    hg.backends.cuda.matmul.allow_tf32 = False
    assert hg.get_float32_matmul_precision() == "highest"
    assert hg.backends.cpu.allow_amx
    hg.backends.cpu.allow_amx = False
    assert not hg.backends.cpu.allow_amx
    hg.backends.cpu.allow_amx = True
    matmul = hg.backends.cuda.matmul
    for place, name in [
        (matmul, "allow_fp16_reduced_precision_reduction"),
        (matmul, "allow_relu_mask"),
        (hg.backends.cuda, "allow_warpgroup_mlp"),
    ]:
        assert not getattr(place, name)
        setattr(place, name, True)
        assert getattr(place, name)
        setattr(place, name, False)
    hg.use_deterministic_algorithms(True)
    assert hg.are_deterministic_algorithms_enabled()
    hg.backends.cudnn.benchmark = False
    hg.cuda.manual_seed_all(3)
    with hg.random.fork_rng():
        inside = hg.randn(2)
    assert hg.equal(hg.randn(2), inside)
    assert hg.random.seed() == hg.initial_seed()
    with hg.autograd.set_detect_anomaly(True):
        x = hg.tensor([-1.0], requires_grad=True)
        with pytest.raises(RuntimeError):
            x.sqrt().sum().backward()
    x = hg.tensor([-1.0], requires_grad=True)
    x.sqrt().sum().backward()
    assert x.grad.isnan().item()


def test_extra_states():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.count = 0

        def get_extra_state(self):
            return {"count": self.count}

        def set_extra_state(self, state):
            self.count = state["count"]

    net, other = nn.Sequential(Counter()), nn.Sequential(Counter())
    net[0].count = 3
    assert net.state_dict() == {"0._extra_state": {"count": 3}}
    other.load_state_dict(net.state_dict())
    assert other[0].count == 3
    with pytest.raises(ValueError, match="_extra_state"):
        other.load_state_dict({})
    assert other.load_state_dict({}, strict=False).missing_keys == ["0._extra_state"]


@pytest.mark.parametrize("call, message", [
    (lambda: hg.ones(3).unfold(0, 4, 1), "unfold: expected 0 <= size <= 3 and step >= 1, got size 4"),
    (lambda: hg.ones(3).tensor_split(hg.tensor(1.5)), "tensor_split: expected a number or a vector of int64"),
    (lambda: hg.ones(3).tensor_split(hg.tensor([[1]])), "tensor_split: expected a number or a vector of int64"),
    (lambda: hg.ones(2, 3).movedim(0, (0, 1)), "movedim: expected a destination for each source"),
    (lambda: hg.tensor([-1]).bincount(), r"bincount: expected integers in \[0, \d+\), got -1"),
    (lambda: hg.ones(3).kthvalue(4), "kthvalue: expected 1 <= k <= 3, got 4"),
    (lambda: hg.ones(3).quantile(1.5), "quantile: expected 0 <= q <= 1"),
    (lambda: hg.tensordot(hg.ones(2), hg.ones(3), 1), "tensordot: expected pairs of equal sizes"),
    (lambda: F.pad(hg.ones(3), (3, 0), mode="reflect"), "pad: expected at most 2"),
    (lambda: hg.broadcast_tensors(hg.ones(2), hg.ones(3)), "broadcast_tensors: expected shapes"),
    (lambda: hg.unique(hg.ones(3, 0), dim=0), r"unique: expected slices with elements, got shape \[3, 0\]"),
    (lambda: F.pad(hg.ones(1, 4), (-2, -2), mode="replicate"), "pad: expected to keep at least one"),
    (lambda: hg.linalg.norm(hg.eye(2), "nuc"), "got 'nuc', which needs the singular values"),
    (lambda: hg.eye(2).norm("nuc"), 'got "nuc", which needs the singular values'),
    (lambda: nn.Embedding(2, 2, sparse=True), "Embedding: expected sparse=False, got True"),
    (lambda: F.embedding(hg.tensor([0]), hg.eye(2), sparse=True), "embedding: expected sparse=False"),
    (lambda: nn.utils.rnn.pad_sequence([]), "pad_sequence: expected sequences of one shape"),
    (lambda: nn.utils.rnn.pad_sequence([hg.ones(1)], padding_side="up"), "expected padding_side"),
    (lambda: hg.distributions.Normal(0.0, -1.0), "Normal: expected scale > 0"),
    (lambda: hg.distributions.Categorical(), "Categorical: expected probs or logits"),
    (lambda: hg.autograd.grad(hg.ones(1), hg.ones(1), is_grads_batched=True), "is_grads_batched=False"),
    (lambda: hg.linalg.norm(hg.ones(2, 2), 2), "matrix_norm: expected ord 1, -1, inf, -inf or \"fro\", got 2"),
    (lambda: hg.linalg.norm(hg.ones(2, 2, 2), 1), "norm: expected one or two dimensions with ord, got 3"),
    (lambda: hg.ones(2, 2, 3).fill_diagonal_(1), "fill_diagonal_: expected a matrix"),
    (lambda: hg.zeros(3).masked_scatter(hg.ones(3) > 0, hg.ones(2)), "masked_scatter: expected a source of at least 3 elements, got 2"),
])
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


class Five:
    """Gives 5 where a function of the user gives tensors."""

    def __len__(self):
        return 5

    def get_batch(self, indices):
        return 5


class WithoutGradient(hg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return 5


X = hg.ones(2, requires_grad=True)
WRONG = [
    (lambda: next(iter(hg.data.DataLoader(Five()))),
     "DataLoader: expected the result of get_batch to be two tensors, got int"),
    (lambda: X["a":], "index: expected the start of a slice to be an int or None, got str"),
    (lambda: hg.einsum("i", 5), "einsum: expected operands to be an iterable of tensors, got int"),
    (lambda: nn.Linear(2, 2).load_state_dict({"weight": 5}),
     'load_state_dict: expected "weight" to be a tensor, got int'),
    (lambda: WithoutGradient.apply(X).sum().backward(),
     "backward: expected the result to be a tensor or None, got int"),
    (lambda: hg.amp.GradScaler(enabled=False).step(hg.optim.SGD([X]), lambda: 5),
     "<lambda>: expected the result to be a tensor, got int"),
    (lambda: hg.inspector.find_overflow(nn.Linear(2, 2), lambda: None),
     "<lambda>: expected the result to be a tensor, got NoneType"),
    (lambda: hg.inspector.TwinRun(lambda low: 5, steps=1),
     "TwinRun: expected the result of build to be a tuple, got int"),
    (lambda: hg.inspector.TwinRun(lambda low: (5, lambda i: None), steps=1),
     "TwinRun: expected the model to be a Module, got int"),
    (lambda: hg.inspector.ScaleTimeline([{"step": "a"}]),
     'ScaleTimeline: expected "step" to be a value of GradScaler.reports\\(\\), got str'),
    (lambda: hg.check(lambda x: x, "relu", seed="a"), "check: expected seed to be an int, got str"),
]


@pytest.mark.parametrize("call, match", WRONG)
def test_values_of_wrong_types_are_named(call, match):
    with pytest.raises(TypeError, match=match):
        call()


def test_errors_of_distributions():
    for mean, std in ((hg.zeros(2), -1.0), (0.0, hg.tensor([1.0, -1.0])), (hg.zeros(2), -hg.ones(2))):
        with pytest.raises(ValueError, match="normal: expected (a )?standard deviation"):
            hg.normal(mean, std)
    with pytest.raises(ValueError, match="bernoulli: expected probabilities in"):
        hg.bernoulli(hg.tensor([0.5, 1.5]))
    assert hg.normal(hg.zeros(2, 1), hg.ones(3)).shape == (2, 3)
    assert hg.bernoulli(hg.zeros(3), 1.0).tolist() == [1, 1, 1]
