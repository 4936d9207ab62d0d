"""Modules, layers, losses and initialisation."""

import math

import numpy as np
import pytest

import halfgrad as hg
from halfgrad import nn
from halfgrad.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 8)
        self.output = nn.Linear(8, 2)
        self.scale = nn.Parameter(hg.ones(2))
        self.register_buffer("offset", hg.zeros(2))

    def forward(self, x):
        return self.output(F.relu(self.hidden(x))) * self.scale + self.offset


def test_a_module_lists_its_parts():
    net = Net()
    names = ["scale", "hidden.weight", "hidden.bias", "output.weight", "output.bias"]
    assert [name for name, _ in net.named_parameters()] == names
    assert list(net.state_dict()) == ["scale", "offset", *names[1:]]
    assert [type(m).__name__ for m in net.modules()] == ["Net", "Linear", "Linear"]
    assert list(dict(net.named_modules())) == ["", "hidden", "output"]
    assert next(net.children()) is net.hidden
    assert isinstance(net.hidden, nn.Module)
    assert repr(net).splitlines()[1] == "  (hidden): Linear(in_features=4, out_features=8, bias=True)"


def test_a_module_trains():
    hg.manual_seed(1)
    net = Net()
    optimizer = hg.optim.SGD(net.parameters(), lr=0.5)
    x = hg.randn(16, 4)
    y = (x[:, 0] > 0).long()
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2
    assert net.hidden.weight.grad.shape == (8, 4)


def test_state_moves_between_modules():
    first, second = Net(), Net()
    assert second.load_state_dict(first.state_dict()) == ([], [])
    x = hg.randn(3, 4)
    assert hg.equal(first(x), second(x))
    state = first.state_dict()
    del state["scale"]
    with pytest.raises(ValueError, match='load_state_dict: .*Net, got\n  missing: "scale"'):
        second.load_state_dict(state)
    assert second.load_state_dict(state, strict=False) == (["scale"], [])


def test_modes_and_conversions_return_the_module():
    net = Net()
    assert net.eval() is net and not net.hidden.training
    assert net.train() is net and net.hidden.training
    assert net.to(hg.float16) is net and net.hidden.weight.dtype == hg.float16
    assert net.offset.dtype == hg.float16 and net.scale.dtype == hg.float16
    assert net.to("cpu") is net


def test_errors_name_the_module():
    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(2, 1))
    with pytest.raises(ValueError, match=r"^Sequential\.2 \(Linear\): linear: expected an input"):
        model(hg.ones(1, 4))
    outer = nn.Sequential(nn.Identity(), model)
    with pytest.raises(ValueError, match=r"^Sequential\.1\.2 \(Linear\): linear: "):
        outer(hg.ones(1, 4))
    with pytest.raises(ValueError, match='expected a new name without dots, got "a.b" in Net'):
        Net().add_module("a.b", nn.Linear(1, 1))
    with pytest.raises(AttributeError):
        del Net().missing
    with pytest.raises(NotImplementedError, match="Module: define forward"):
        nn.Module()(1)


def test_sequential():
    model = nn.Sequential(nn.Linear(4, 3), hg.relu, nn.Linear(3, 2))
    assert len(model) == 3 and model[0].weight.shape == (3, 4) and model[-1] is model[2]
    assert list(model.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert model(hg.ones(5, 4)).shape == (5, 2)
    with pytest.raises(IndexError, match="expected a layer in"):
        model[3]


def test_fused_mlp_is_a_sequential():
    hg.manual_seed(0)
    layers = hg.nn.Sequential(hg.nn.Linear(6, 9), hg.nn.ReLU(), hg.nn.Linear(9, 3))
    hg.manual_seed(0)
    fused = hg.nn.FusedMLP([6, 9, 3])
    x = hg.randn(4, 6)
    assert fused(x).tolist() == layers(x).tolist()
    assert list(fused.state_dict()) == list(layers.state_dict())
    layers.load_state_dict(fused.state_dict())
    parameters = list(fused.parameters())
    weights, biases = parameters[0::2], parameters[1::2]
    assert hg.nn.functional.mlp(x, weights, biases).tolist() == fused(x).tolist()
    assert hg.nn.functional.mlp(x, weights).shape == (4, 3)
    target = hg.tensor([0, 2, 1, 0])
    expected = hg.nn.functional.cross_entropy(fused(x), target)
    loss = fused.cross_entropy(x, target)
    assert hg.nn.functional.mlp_cross_entropy(x, weights, biases, target).item() == expected.item()
    loss.backward()
    assert loss.item() == expected.item()
    assert weights[0].grad is not None
    for activation, layer in (("gelu", hg.nn.GELU()), ("gelu_tanh", hg.nn.GELU("tanh"))):
        hg.manual_seed(0)
        layers = hg.nn.Sequential(hg.nn.Linear(6, 9), layer, hg.nn.Linear(9, 3))
        hg.manual_seed(0)
        fused = hg.nn.FusedMLP([6, 9, 3], activation=activation)
        assert fused(x).tolist() == layers(x).tolist()
        loss = hg.nn.functional.cross_entropy(layers(x), target)
        assert fused.cross_entropy(x, target).item() == loss.item()
    with pytest.raises(ValueError, match="mlp: expected activation to be 'relu'"):
        hg.nn.functional.mlp(x, weights, biases, "tanh")
    with pytest.raises(ValueError, match=r"mlp: expected weight 0 of shape \[out, 6\]"):
        hg.nn.functional.mlp(x, weights[1:])


def test_layers_draw_the_weights_of_cpp_in_order():
    hg.manual_seed(0)
    first = nn.Linear(3, 2)
    hg.manual_seed(0)
    weight = nn.init.kaiming_uniform_(hg.empty(2, 3), a=math.sqrt(5))
    bias = nn.init.uniform_(hg.empty(2), -1 / math.sqrt(3), 1 / math.sqrt(3))
    assert hg.equal(first.weight, weight) and hg.equal(first.bias, bias)


@pytest.mark.parametrize("layer, shape", [
    (nn.LayerNorm(4), (3, 4)), (nn.RMSNorm(4), (3, 4)), (nn.BatchNorm1d(4), (3, 4)),
    (nn.GroupNorm(2, 4), (3, 4)),
    (nn.GELU("tanh"), (3, 4)), (nn.SiLU(), (3, 4)), (nn.ELU(), (3, 4)), (nn.LeakyReLU(), (3, 4)),
    (nn.Softplus(), (3, 4)), (nn.Softmax(1), (3, 4)), (nn.LogSoftmax(1), (3, 4)),
    (nn.Tanh(), (3, 4)), (nn.Sigmoid(), (3, 4)), (nn.Dropout(0.5), (3, 4)), (nn.Identity(), (3, 4)),
    (nn.Flatten(), (3, 4))])
def test_layers_keep_the_shape(layer, shape):
    assert layer(hg.randn(*shape)).shape == shape


def test_other_layers():
    assert nn.Embedding(5, 3)(hg.tensor([[0, 1]])).shape == (1, 2, 3)
    assert nn.Flatten()(hg.ones(2, 3, 4)).shape == (2, 12)
    assert nn.Linear(2, 2, bias=False).bias is None
    dropout = nn.Dropout(0.5).eval()
    assert dropout(hg.ones(4)).tolist() == [1, 1, 1, 1]
    norm = nn.BatchNorm1d(2)
    norm(hg.randn(8, 2))
    assert norm.running_mean.tolist() != [0, 0]


def test_group_norm_normalizes_the_channels_of_a_group():
    x = hg.randn(2, 4, 3)
    layer = nn.GroupNorm(2, 4, eps=0.0)
    y = layer(x)
    assert (layer.num_groups, layer.num_channels) == (2, 4)
    groups = y.reshape(2, 2, 6)
    assert np.allclose(groups.mean(2).tolist(), 0, atol=1e-6)
    assert np.allclose(groups.square().mean(2).tolist(), 1, atol=1e-5)
    assert hg.equal(y, F.group_norm(x, 2, eps=0.0))
    with pytest.raises(ValueError, match="group_norm: expected a number of groups that divides 4"):
        F.group_norm(x, 3)


def test_swiglu_gates_with_the_first_half():
    x = hg.randn(3, 8)
    gate, up = x[:, :4], x[:, 4:]
    assert hg.equal(hg.swiglu(x), hg.swiglu(gate, up))
    assert np.allclose(hg.swiglu(x).tolist(), (F.silu(gate) * up).tolist(), atol=1e-6)
    with pytest.raises(ValueError, match="swiglu: expected floating point x"):
        hg.swiglu(hg.ones(3))


def test_losses_as_modules_equal_the_functions():
    x, y = hg.randn(6, 3), hg.randint(0, 3, (6,))
    weight = hg.tensor([1.0, 2, 3])
    criterion = nn.CrossEntropyLoss(weight=weight, label_smoothing=0.1)
    assert hg.equal(criterion(x, y), F.cross_entropy(x, y, weight=weight, label_smoothing=0.1))
    assert list(criterion.state_dict()) == ["weight"]
    target = hg.randn(6, 3)
    for module, function in [(nn.MSELoss(), F.mse_loss), (nn.L1Loss(), F.l1_loss),
                             (nn.SmoothL1Loss(), F.smooth_l1_loss), (nn.HuberLoss(), F.huber_loss)]:
        assert hg.equal(module(x, target), function(x, target))
    probabilities = hg.rand(6, 3)
    assert hg.equal(nn.BCEWithLogitsLoss()(x, probabilities),
                    F.binary_cross_entropy_with_logits(x, probabilities))
    assert hg.equal(nn.BCELoss()(probabilities, probabilities),
                    F.binary_cross_entropy(probabilities, probabilities))
    assert hg.equal(nn.NLLLoss()(x.log_softmax(1), y), F.cross_entropy(x, y)) or np.isclose(
        nn.NLLLoss()(x.log_softmax(1), y).item(), F.cross_entropy(x, y).item())


def test_apply_visits_children_first():
    names = []
    net = Net()
    assert net.apply(lambda module: names.append(type(module).__name__)) is net
    assert names == ["Linear", "Linear", "Net"]
    net.apply(lambda m: nn.init.zeros_(m.weight) if isinstance(m, nn.Linear) else None)
    assert net.hidden.weight.sum().item() == 0


def test_clipping():
    x = hg.ones(4, requires_grad=True)
    (x * 3).sum().backward()
    norm = nn.utils.clip_grad_norm_(iter([x]), 1)
    assert norm.item() == 6 and abs(x.grad.norm().item() - 1) < 1e-6
    nn.utils.clip_grad_value_(x, 0.25)
    assert x.grad.tolist() == [0.25] * 4
    assert nn.utils.get_total_norm([x.grad]).item() == 0.5
    with pytest.raises(TypeError):
        hg.cat(x for _ in range(2))


def test_parameters_as_a_vector():
    layer = nn.Linear(2, 2)
    vector = nn.utils.parameters_to_vector(layer.parameters())
    nn.utils.vector_to_parameters(vector * 0 + 3, layer.parameters())
    assert layer.weight.tolist() == [[3, 3], [3, 3]] and layer.bias.tolist() == [3, 3]
    with pytest.raises(ValueError, match=r"expected shape \[6\], got"):
        nn.utils.vector_to_parameters(vector[:5], layer.parameters())
