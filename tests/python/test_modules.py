"""Tied weights, attributes that are registered, hooks and containers."""

from collections import OrderedDict

import pytest

import halfgrad as hg
from halfgrad import nn


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(5, 3)
        self.head = nn.Linear(3, 5, bias=False)
        self.head.weight = self.table.weight

    def forward(self, tokens):
        return self.head(self.table(tokens))


def names(pairs):
    return [name for name, _ in pairs]


def test_a_tied_weight_is_one_parameter_with_two_names():
    net = Tied()
    assert net.head.weight is net.table.weight
    assert names(net.named_parameters()) == ["table.weight"]
    assert names(net.named_parameters(remove_duplicate=False)) == ["table.weight", "head.weight"]
    assert list(net.state_dict()) == ["table.weight", "head.weight"]
    assert len(hg.optim.SGD(net.parameters(), lr=1.0).param_groups[0]["params"]) == 1
    net.to(hg.float64)
    assert net.head.weight.dtype == hg.float64 and net.head.weight is net.table.weight


def test_a_tied_weight_gets_both_gradients_and_one_update():
    net = Tied()
    tokens = hg.tensor([0, 3])
    table, head = (net.table.weight.detach().clone().requires_grad_() for _ in range(2))
    nn.functional.linear(nn.functional.embedding(tokens, table), head).sum().backward()
    expected = table.detach() - 0.5 * (table.grad + head.grad)
    optimizer, scaler = hg.optim.SGD(net.parameters(), lr=0.5), hg.amp.GradScaler()
    scaler.scale(net(tokens).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert hg.equal(net.head.weight, expected) and hg.equal(net.table.weight, expected)


def test_parameters_are_the_attributes_themselves():
    layer = nn.Linear(2, 3)
    assert layer.weight is layer.weight and isinstance(layer.weight, nn.Parameter)
    assert next(layer.parameters()) is layer.weight
    layer.weight.note = "kept"
    assert next(layer.parameters()).note == "kept"
    assert layer.in_features == 2 and layer.out_features == 3
    with pytest.raises(AttributeError):
        layer.in_features = 5


def test_parameters_are_replaced_and_removed():
    layer = nn.Linear(2, 3)
    layer.weight = nn.Parameter(hg.ones(3, 2))
    layer.bias = None
    assert layer(hg.ones(1, 2)).tolist() == [[2, 2, 2]]
    assert names(layer.named_parameters()) == ["weight"]
    layer.bias = nn.Parameter(hg.ones(3))
    assert layer(hg.ones(1, 2)).tolist() == [[3, 3, 3]]
    with pytest.raises(TypeError, match="Linear.weight: expected an nn.Parameter or None, got an"):
        layer.weight = hg.ones(3, 2)
    del layer.bias
    assert layer.bias is None and list(layer.state_dict()) == ["weight"]


def test_modules_and_buffers_are_replaced():
    net = nn.Module()
    net.layer = nn.Linear(2, 2)
    net.register_buffer("mean", hg.zeros(2))
    net.register_buffer("hidden", hg.zeros(1), persistent=False)
    net.register_buffer("later", None)
    net.mean = net.mean + 1
    net.later = hg.ones(1)
    net.layer = nn.Identity()
    assert net.state_dict()["mean"].tolist() == [1, 1] and list(net.state_dict()) == ["mean", "later"]
    assert names(net.named_buffers()) == ["mean", "hidden", "later"]
    net.load_state_dict({"mean": hg.ones(2), "later": hg.zeros(1)})
    with pytest.raises(TypeError, match="mean: expected a Tensor or None"):
        net.mean = 3
    net.mean = None
    del net.layer
    assert list(net.state_dict()) == ["later"] and not hasattr(net, "layer")
    with pytest.raises(ValueError, match='register_buffer: expected a new name, got "forward_pre"'):
        net.forward_pre = 1
        net.register_buffer("forward_pre", hg.ones(1))
    with pytest.raises(ValueError, match='expected a new name without dots, got "later"'):
        net.register_buffer("later", hg.ones(1))


def test_plain_attributes_may_be_set_before_the_base_class():
    class Net(nn.Module):
        size = 1

        def __init__(self):
            self.size = 2
            super().__init__()
            self.layer = nn.Linear(self.size, 1)

    assert Net().layer.in_features == 2 and Net.size == 1


def test_submodules_and_parameters_are_found_by_name():
    net = nn.Sequential(nn.Linear(1, 2), nn.Sequential(nn.Linear(2, 3)))
    assert net.get_submodule("1.0") is net[1][0] and net.get_submodule("") is net
    assert net.get_parameter("1.0.bias") is net[1][0].bias
    with pytest.raises(AttributeError, match='expected a module "1.7"; Sequential has no module "7"'):
        net.get_submodule("1.7")


def test_hooks_see_and_replace_arguments_and_outputs():
    layer, calls = nn.Identity(), []
    layer.register_forward_pre_hook(lambda module, args: calls.append(("pre", module is layer)))
    doubles = layer.register_forward_pre_hook(lambda module, args: args[0] * 2)
    first = layer.register_forward_hook(lambda module, args, output: output + 1, prepend=True)
    layer.register_forward_hook(lambda module, args, output: calls.append(output.item()))
    assert layer(hg.tensor(3.0)).item() == 7 and calls == [("pre", True), 7]
    doubles.remove()
    with first:
        pass
    assert layer(hg.tensor(3.0)).item() == 3


def test_hooks_get_keyword_arguments_and_errors():
    class Sum(nn.Module):
        def forward(self, x, *, y):
            return x + y

    module, seen = Sum(), []
    module.register_forward_pre_hook(
        lambda m, args, kwargs: (args, {"y": kwargs["y"] * 10}), with_kwargs=True)
    module.register_forward_hook(
        lambda m, args, kwargs, output: seen.append((kwargs, output)), with_kwargs=True,
        always_call=True)
    assert module(1, y=2) == 21 and seen == [({"y": 20}, 21)]
    with pytest.raises(TypeError):
        module("a", y=2)
    assert seen[1] == ({"y": 20}, None)


def test_containers_by_name():
    blocks = nn.ModuleDict({"a": nn.Linear(1, 2), "b": nn.ReLU()})
    blocks["c"] = nn.Linear(2, 3)
    del blocks["b"]
    assert list(blocks) == ["a", "c"] and "b" not in blocks and len(blocks) == 2
    assert names(blocks.named_parameters()) == ["a.weight", "a.bias", "c.weight", "c.bias"]
    assert blocks["c"] is blocks.c and blocks.pop("a").in_features == 1
    with pytest.raises(KeyError):
        blocks["a"]
    with pytest.raises(KeyError, match="other than those of its methods"):
        blocks["keys"] = nn.ReLU()
    scales = nn.ParameterDict({"x": hg.ones(2)})
    assert isinstance(scales["x"], nn.Parameter) and scales.get("y") is None


def test_containers_by_position():
    layers = nn.ModuleList(nn.Linear(i + 1, 1) for i in range(4))
    layers.insert(1, nn.ReLU())
    del layers[0]
    layers[0] = nn.Tanh()
    assert [type(m).__name__ for m in layers] == ["Tanh", "Linear", "Linear", "Linear"]
    assert len(layers[1:]) == 3 and layers.pop().in_features == 4
    parameters = nn.ParameterList([hg.ones(1), hg.zeros(2)])
    parameters += [hg.ones(3)]
    assert [p.shape for p in parameters] == [(1,), (2,), (3,)]
    assert names(parameters.named_parameters()) == ["0", "1", "2"]


def test_sequential_takes_names_and_slices():
    model = nn.Sequential(OrderedDict([("hidden", nn.Linear(2, 3)), ("act", nn.ReLU()),
                                       ("out", nn.Linear(3, 1))]))
    assert model.hidden is model[0] and list(model[:2].state_dict()) == ["hidden.weight",
                                                                         "hidden.bias"]
    assert hg.equal(model[1:](model[:1](hg.ones(1, 2))), model(hg.ones(1, 2)))
    assert repr(model) == """Sequential(
  (hidden): Linear(in_features=2, out_features=3, bias=True)
  (act): ReLU()
  (out): Linear(in_features=3, out_features=1, bias=True)
)"""


def test_sequential_offers_a_linear_and_its_relu_as_one_op(monkeypatch):
    offered = []

    def pair(x, weight, bias):
        offered.append(weight.shape)
        return nn.functional.linear_relu(x, weight, bias)

    monkeypatch.setattr(nn.containers, "linear_then_relu", pair)
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 4), nn.Linear(4, 5), nn.ReLU(),
                          nn.ReLU(), nn.Linear(5, 1))
    x = expected = hg.randn(6, 2)
    for layer in model:
        expected = layer(expected)
    assert hg.equal(model(x), expected) and offered == [(3, 2), (5, 4)]
    calls = []
    with model[0].register_forward_hook(lambda *arguments: calls.append("linear")):
        model[4].forward = lambda x: calls.append("relu") or hg.relu(x)
        assert hg.equal(model(x), expected)
    assert calls == ["linear", "relu"] and len(offered) == 2


def test_sequential_runs_layers_one_by_one_on_a_cpu():
    layer = nn.Linear(2, 3)
    assert nn.containers.linear_then_relu(hg.ones(1, 2), layer.weight, layer.bias) is None


def test_conversions_have_pytorchs_forms():
    net = nn.Linear(2, 2)
    assert net.half() is net and net.weight.dtype == hg.float16
    assert net.to("cpu", hg.float64).weight.dtype == hg.float64
    assert net.to(device="cpu", dtype=hg.float32).float().weight.dtype == hg.float32
    assert not net.requires_grad_(False).weight.requires_grad


def test_a_state_may_be_assigned():
    layer, state = nn.Linear(2, 1), {"weight": hg.ones(1, 2), "bias": hg.zeros(1)}
    keys = layer.load_state_dict(state, assign=True)
    assert keys.missing_keys == [] and keys.unexpected_keys == []
    assert repr(keys) == "<All keys matched successfully>"
    state["weight"].zero_()
    assert layer.weight.tolist() == [[0, 0]] and layer.weight.requires_grad
