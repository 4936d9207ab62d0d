"""The asynchronous optimizer and its scaler, streams, events and graphs."""

import copy
import threading

import pytest

import halfgrad as hg
from halfgrad import nn


def leaf(*values):
    return hg.tensor(values, requires_grad=True)


def test_async_optimizer_is_one_update_late():
    layer = nn.Linear(1, 1, bias=False)
    with hg.no_grad():
        layer.weight.fill_(1.0)
    sgd = hg.optim.SGD(layer.parameters(), lr=0.25)
    optimizer = hg.optim.AsyncOptimizer(sgd)
    seen, threads = [], []

    def update(inner):
        threads.append(threading.current_thread() is threading.main_thread())
        inner.step()

    for _ in range(3):
        seen.append(layer.weight.item())
        (layer(hg.ones(1, 1)) ** 2).sum().backward()
        optimizer.step(update)
    optimizer.synchronize()
    assert seen == [1.0, 1.0, 0.5] and layer.weight.item() == -0.25
    assert threads == [False] * 3 and optimizer.write_back_report()["overflows"] == 0
    state = copy.deepcopy(optimizer.state_dict())
    optimizer.load_state_dict(state)
    with pytest.raises(RuntimeError, match="AsyncOptimizer"):
        sgd.step()


def test_errors_of_step_functions_reach_the_caller():
    x = leaf(1.0)
    optimizer = hg.optim.AsyncOptimizer(hg.optim.SGD([x], lr=0.1))
    (x * x).sum().backward()
    optimizer.step(lambda inner: {}["missing"])
    with pytest.raises(KeyError, match="missing"):
        optimizer.synchronize()


def test_async_scaler_changes_the_scale_one_step_late():
    x = leaf(1.0)
    optimizer = hg.optim.AsyncOptimizer(hg.optim.SGD([x], lr=0.1))
    scaler = hg.amp.AsyncGradScaler(optimizer, init_scale=8.0, growth_interval=1)
    scales = []
    for _ in range(4):
        scales.append(scaler.get_scale())
        scaler.scale((x * x).sum()).backward()
        optimizer.step(scaler.step)
        scaler.update()
    assert scales == [8, 8, 16, 32] and scaler.counts()["growths"] == 4
    assert scaler.state_dict()["scale"] > 0
    scaler.load_state_dict(scaler.state_dict())


def test_streams_and_graphs_on_the_cpu():
    runs = []
    graph = hg.cuda.CUDAGraph("cpu")
    with pytest.raises(RuntimeError, match="replay|captur"):
        graph.replay()
    graph.capture(lambda: runs.append(1))
    graph.replay()
    graph.replay()
    assert len(runs) == 2
    stream = hg.cuda.Stream("cpu")
    with hg.cuda.stream(stream):
        stream.synchronize()
    start, end = hg.cuda.Event(enable_timing=True), hg.cuda.Event(enable_timing=True)
    start.record(stream)
    end.record(stream)
    stream.wait_event(start)
    assert end.query() and start.elapsed_time(end) >= 0


@pytest.mark.skipif(hg.cuda.is_available(), reason="there is a GPU")
def test_streams_and_graphs_without_a_gpu_raise():
    for call in (hg.cuda.Stream, hg.cuda.CUDAGraph, hg.cuda.synchronize):
        with pytest.raises((RuntimeError, ValueError), match="(?i)cuda|gpu"):
            call()
