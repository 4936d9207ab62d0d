"""Timelines and event files: what was written is read back, by json and by TensorBoard itself."""

import json
import pathlib
import re
import struct

import pytest

import halfgrad
from halfgrad import nn, optim
from halfgrad.amp import GradScaler, autocast
from halfgrad.tracing import TensorBoardWriter, Trace


def train(trace, model, optimizer, scaler, steps):
    for step in range(steps):
        optimizer.zero_grad()
        with autocast():
            loss = nn.functional.cross_entropy(model(halfgrad.ones(2, 4)), halfgrad.tensor([0, 1]))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        trace.step(scaler, loss=loss.item())


def slices(events, track):
    """The slices of a track as (name, depth), in the order of their begins; all of them have ended."""
    thread = next(e["tid"] for e in events if e["name"] == "thread_name"
                  and e["args"]["name"] == track)
    found, depth = [], 0
    for event in events:
        if event["tid"] != thread:
            continue
        if event["ph"] == "B":
            found.append((event["name"], depth))
            depth += 1
        elif event["ph"] == "E":
            depth -= 1
    assert depth == 0
    return found


def read_trace(file):
    events = json.loads(file.read_text())["traceEvents"]
    for event in events:
        event.setdefault("name", "")
    return events


def test_trace_of_a_training(tmp_path):
    file = tmp_path / "trace.json"
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    with Trace(file, model, [optimizer]) as trace:
        assert json.loads(file.read_text())["traceEvents"] == []
        train(trace, model, optimizer, GradScaler(init_scale=2.0**40), 2)
    events = read_trace(file)
    forward = slices(events, "forward")
    assert [name for name, depth in forward if depth == 0] == [
        "0", "1", "2", "cross_entropy", "mul"] * 2  # mul: the scaler
    assert ("linear", 1) in forward and ("to", 2) in forward
    assert slices(events, "optimizer") == [("SGD", 0)] * 2
    backward = [name for name, depth in slices(events, "backward") if depth == 0]
    assert [name for name in backward if name in ("linear", "relu")] == ["linear", "relu", "linear"] * 2
    losses = [e["args"]["value"] for e in events if e["ph"] == "C" and e["name"] == "loss"]
    assert len(losses) == 2 and 0 < losses[0] < 2
    assert [e["name"] for e in events if e["ph"] == "i"][:2] == ["skip", "skip"]


def test_trace_is_written_after_an_exception(tmp_path):
    file = tmp_path / "trace.json"
    with pytest.raises(KeyError):
        with Trace(file):
            halfgrad.ones(2).exp()
            raise KeyError("interrupted")
    assert ("exp", 0) in slices(read_trace(file), "forward")


def test_trace_ends_with_its_scope(tmp_path):
    file = tmp_path / "trace.json"
    with Trace(file):
        halfgrad.ones(2).exp()
    before = file.read_text()
    halfgrad.ones(2).sqrt()
    assert file.read_text() == before and "sqrt" not in before


def test_trace_refuses_a_file_that_cannot_be_written(tmp_path):
    with pytest.raises(RuntimeError, match="expected to write .*missing"):
        Trace(tmp_path / "missing" / "trace.json")


def test_trace_is_entered_once(tmp_path):
    with Trace(tmp_path / "trace.json") as trace:
        with pytest.raises(RuntimeError, match="entered once"):
            trace.__enter__()


def read_events(folder):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = accumulator.EventAccumulator(str(folder), size_guidance={accumulator.HISTOGRAMS: 0})
    events.Reload()
    return events


def as_float32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def test_tensorboard_reads_every_value(tmp_path):
    values = [0.1, -1e30, 65504.0, 1e-40, float("inf"), 3]
    exact = [-2.5, -2.5, 0.0, 1e-12, 0.75, 1e300, float("nan")]
    with TensorBoardWriter(tmp_path) as board:
        for step, value in enumerate(values):
            board.add_scalar("loss", halfgrad.tensor(value) if step == 5 else value, step * 10**9)
        board.add_histogram("weights", halfgrad.tensor(exact, dtype=halfgrad.float64), 7)
        board.add_histogram("integers", [1, 2, 3])
        board.add_exponents("gradients", halfgrad.tensor([0.0, 1.0, 1.5, -8.0, 2.0**-24]), 8)
        board.add_text("options", "precision **fp16**, ψ", 9)
    events = read_events(tmp_path)
    scalars = events.Scalars("loss")
    assert [scalar.step for scalar in scalars] == [step * 10**9 for step in range(6)]
    assert [scalar.value for scalar in scalars] == [as_float32(value) for value in values]

    weights = events.Histograms("weights")[0]
    finite = exact[:-1]
    histogram = weights.histogram_value
    assert (weights.step, histogram.num) == (7, 6)
    assert (histogram.min, histogram.max, histogram.sum) == (min(finite), max(finite), sum(finite))
    counts = [count for count in histogram.bucket if count > 0]
    assert counts == [2, 1, 1, 1, 1]
    limits = histogram.bucket_limit
    for value in finite:
        bucket = next(i for i, limit in enumerate(limits) if value < limit)
        assert histogram.bucket[bucket] > 0
    assert events.Histograms("integers")[0].histogram_value.sum == 6

    gradients = events.Histograms("gradients")[0].histogram_value
    assert {limit - 1: count for limit, count in zip(gradients.bucket_limit, gradients.bucket)
            if count > 0} == {-24: 1, 0: 2, 3: 1}
    assert (gradients.min, gradients.max, gradients.num) == (-24, 4, 4)

    text = events.Tensors("options")[0].tensor_proto
    assert text.string_val[0].decode() == "precision **fp16**, ψ"
    assert events.SummaryMetadata("options").plugin_data.plugin_name == "text"


def test_tensorboard_notices_a_changed_byte(tmp_path):
    with TensorBoardWriter(tmp_path) as board:
        for step in range(3):
            board.add_scalar("loss", step, step)
    file = next(tmp_path.iterdir())
    data = bytearray(file.read_bytes())
    data[-6] ^= 1  # in the last event; its check is the last 4 bytes
    file.write_bytes(data)
    assert [scalar.step for scalar in read_events(tmp_path).Scalars("loss")] == [0, 1]


def test_tensorboard_reads_a_file_that_was_cut(tmp_path):
    with TensorBoardWriter(tmp_path) as board:
        for step in range(3):
            board.add_scalar("loss", step, step)
    file = next(tmp_path.iterdir())
    file.write_bytes(file.read_bytes()[:-5])
    assert [scalar.step for scalar in read_events(tmp_path).Scalars("loss")] == [0, 1]


def test_tensorboard_writer_refuses_mistakes(tmp_path):
    (tmp_path / "file").write_text("text")
    with pytest.raises(RuntimeError, match="expected to make .*file"):
        TensorBoardWriter(tmp_path / "file")
    board = TensorBoardWriter(tmp_path / "runs")
    board.close()
    board.close()
    with pytest.raises(RuntimeError, match="after close"):
        board.add_scalar("loss", 1.0, 0)


def test_blocks_of_the_page_run(tmp_path, monkeypatch):
    page = pathlib.Path(__file__).parents[2] / "docs/tracing.md"
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert len(blocks) == 1
    exec(compile(blocks[0], page, "exec"), {})
    assert len(slices(read_trace(tmp_path / "trace.json"), "optimizer")) == 20
    assert len(read_events(tmp_path / "runs/first").Scalars("loss")) == 20
