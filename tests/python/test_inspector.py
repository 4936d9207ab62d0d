"""halfgrad.inspector: the same names and results as in C++, source lines, tables for notebooks."""

import math
import re
from html.parser import HTMLParser

import pytest

import halfgrad as hg
from halfgrad import inspector
from halfgrad.amp import GradScaler, autocast


class Block(hg.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = hg.nn.Linear(4, 4)

    def forward(self, x):
        return hg.exp(self.linear(x).float() * 100)  # planted: exp overflows


class Net(hg.nn.Module):
    def __init__(self, block=None):
        super().__init__()
        self.first = hg.nn.Linear(4, 4)
        self.block = block or hg.nn.Sequential(hg.nn.ReLU(), hg.nn.Linear(4, 1))

    def forward(self, x):
        return self.block(self.first(x))


def line_of(text):
    with open(__file__) as source:
        return next(i for i, line in enumerate(source, 1) if text in line and "line_of" not in line)


def cells(html):
    """The text of a table's cells, row by row. Fails for an element that is not closed."""
    class Reader(HTMLParser):
        def __init__(self):
            super().__init__()
            self.open, self.rows = [], []

        def handle_starttag(self, tag, attributes):
            self.open.append(tag)
            if tag == "tr":
                self.rows.append([])
            elif tag in ("td", "th"):
                self.rows[-1].append("")

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

        def handle_data(self, data):
            if self.open and self.open[-1] in ("td", "th"):
                self.rows[-1][-1] += data

    reader = Reader()
    reader.feed(html)
    assert not reader.open
    return reader.rows


def test_op_log_names_modules_and_casts():
    model = Net()
    ops = inspector.OpLog(model)
    with ops, autocast("cpu"):
        model(hg.ones(2, 4))
        ops.next_step()
        model(hg.ones(2, 4)) + hg.ones(1)
    model(hg.ones(2, 4))  # not observed
    assert [record.module for record in ops.records] == [
        "first", "block.0", "block.1", "first", "block.0", "block.1", ""]
    first = ops.records[0]
    assert (first.op, first.run_dtype, first.depth) == ("linear", hg.float16, 1)
    assert [(o.parameter, o.cast) for o in first.operands] == [
        ("", "made"), ("first.weight", "made"), ("first.bias", "made")]
    assert [o.cast for o in ops.records[3].operands] == ["made", "cached", "cached"]
    assert ops.summary(0)[0].calls == 2 and ops.summary()[0].calls == 4
    assert [record.op for record in ops.promoted(1)] == ["add"] and not ops.promoted(0)
    assert repr(first).startswith("linear (tensor_core) in first: ran in float16; operand 0")
    assert "linear" in repr(ops) and "linear" in str(ops)
    rows = cells(ops._repr_html_())
    assert rows[0][0] == "op" and rows[1][:4] == ["linear", "tensor_core", "halfgrad.float16", "4"]


def test_op_log_regions_nest():
    outer, inner = inspector.OpLog(), inspector.OpLog()
    with outer:
        hg.ones(1).exp()
        with inner:
            hg.ones(1).sin()
        hg.ones(1).cos()
    assert [r.op for r in outer.records] == ["exp", "sin", "cos"]
    assert [r.op for r in inner.records] == ["sin"]
    with pytest.raises(ZeroDivisionError), outer:
        1 / 0
    hg.ones(1).exp()
    assert len(outer.records) == 3


def test_ledger_counts_known_exponents():
    weight = hg.nn.Parameter(hg.zeros(45))
    model = hg.nn.Module()
    model.weight = weight
    gradients = hg.tensor([2.0**e for e in range(-45, 0)])
    ledger = inspector.UnderflowLedger(model, every=2)
    for _ in range(4):
        with ledger.observe(256.0):
            ((weight * gradients).sum() * 256).backward()
    assert ledger.measured == 2
    place = ledger.ranges()[0]
    assert (place.name, place.is_parameter) == ("weight", True)
    assert place.scaled.counts == {e + 8: 2 for e in range(-45, 0)}
    assert place.unscaled.counts == {e: 2 for e in range(-45, 0)}
    assert (place.lost_without_scale, place.lost_with_scale, place.saved) == (42, 26, 16)
    best = ledger.recommend()
    assert best.scale == 2.0**16 and best.lost == 2 * 5
    assert repr(ledger).count("weight") >= 1
    rows = cells(ledger._repr_html_())
    assert rows[1][0] == "weight" and rows[1][2:6] == ["90", "0", "42", "26"]
    with pytest.raises(ValueError, match="expected a finite, positive scale"):
        with ledger.observe(0.0):
            pass
    with pytest.raises(ValueError, match="every"):
        inspector.UnderflowLedger(model, every=0)


def test_find_overflow_names_the_source_line():
    model = Net(Block())
    for parameter in model.parameters():
        parameter.data.fill_(1.0)
    found = inspector.find_overflow(model, lambda: model(hg.ones(2, 4)).sum(), scale=4)
    assert found and found.cause == "forward"
    assert (found.op, found.module) == ("exp", "block")
    line = line_of("planted: exp overflows")
    assert re.fullmatch(rf"\S*test_inspector\.py:{line} in forward", found.source), found.source
    assert f"called at {found.source}" in str(found)
    assert found.ranges[-1].name == "the result" and found.ranges[-1].nonfinite > 0


def test_find_overflow_skips_the_frames_of_the_package():
    model = hg.nn.Sequential(hg.nn.Linear(4, 4))
    for parameter in model.parameters():
        parameter.data.fill_(0.01)

    def loss():
        with autocast("cpu"):
            y = model(hg.full((2, 4), 100.0))  # planted: the layer is halfgrad's
        return (y.float() * 0.25).sum()

    found = inspector.find_overflow(model, loss, scale=65536)
    assert (found.cause, found.op, found.module) == ("scale_too_high", "linear", "0")
    assert found.safe_scale == 1024
    assert found.source.endswith(f"test_inspector.py:{line_of('planted: the layer is')} in loss")
    assert not inspector.find_overflow(model, loss, scale=256)


def test_find_overflow_repeats_dropout():
    model = hg.nn.Sequential(hg.nn.Linear(16, 1), hg.nn.Dropout(0.5))
    seen = []

    def loss():
        y = model(hg.ones(32, 16))
        seen.append(y.tolist())
        return (y * math.inf).sum()

    state = hg.get_rng_state()
    loss()
    inspector.find_overflow(model, loss, random=state)
    assert len(seen) > 1 and all(other == seen[0] for other in seen)
    with pytest.raises(ValueError, match="16 bytes"):
        inspector.find_overflow(model, loss, random=hg.zeros(3, dtype=hg.uint8))


def test_errors_of_the_loss_come_through():
    model = Net()

    def loss():
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        inspector.find_overflow(model, loss)
    assert inspector._halfgrad.inspector.is_observed() is False


def build(low_precision):
    model = Net()
    optimizer = hg.optim.SGD(model.parameters(), lr=0.01)
    scaler = GradScaler(init_scale=1024, enabled=low_precision)

    def step(i):
        x, y = hg.randn(16, 4), hg.randn(16, 1)
        optimizer.zero_grad()
        with autocast("cpu", enabled=low_precision):
            loss = hg.nn.functional.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss

    return model, step


def test_twin_run():
    before = hg.get_rng_state().tolist()
    twin = inspector.TwinRun(build, steps=3, seed=1, bound=0.5)
    assert hg.get_rng_state().tolist() == before
    assert twin.layers == ["first", "block.0", "block.1", ""]
    assert len(twin.steps) == 3
    errors = twin.steps[0].layers[0]
    assert 1e-5 < errors.activation < 1e-2 and 1e-5 < errors.gradient < 1e-2
    assert twin.steps[0].layers[1].gradient is None
    assert twin.steps[2].loss == pytest.approx(twin.steps[2].low_loss, rel=0.01)
    assert twin.first_beyond() is None
    first = twin.first_beyond(1e-6)
    assert (first.step, first.layer, first.quantity) == (0, "first", "activation")
    assert repr(first).startswith("step 0: activation of first, relative error ")
    assert repr(inspector.TwinRun(build, steps=3, seed=1, bound=0.5)) == repr(twin)
    rows = cells(twin._repr_html_())
    assert [row[0] for row in rows] == ["relative error of", "first", "block.0", "block.1",
                                        "(top level)"]
    with pytest.raises(ValueError, match="at least one step"):
        inspector.TwinRun(build, steps=0)


def test_twin_run_accepts_steps_without_a_loss():
    def silent(low_precision):
        model, step = build(low_precision)
        return model, lambda i: step(i) and None

    assert inspector.TwinRun(silent, steps=1).steps[0].loss is None


def test_scale_timeline():
    model = Net()
    optimizer = hg.optim.SGD(list(model.parameters())[::-1], lr=0.0)
    scaler = GradScaler(init_scale=65536, growth_interval=2, history=8)
    for bad in (True, False, False):
        optimizer.zero_grad()
        scaler.scale((model(hg.ones(1, 4)) * 0.0).sum()).backward()
        if bad:
            model.first.bias.grad[0] = math.inf
        scaler.step(optimizer)
        scaler.update()
    timeline = inspector.ScaleTimeline(scaler.reports(), model, optimizers=[optimizer])
    texts = ["skipped: 1 element of first.bias is inf or NaN; 65536 -> 32768", "",
             "grew after 2 good steps: 32768 -> 65536"]
    assert [point.text for point in timeline.points] == texts
    assert [point.cause for point in timeline.points] == ["gradient_not_finite", "none", "good_steps"]
    assert [point.loss for point in timeline.points] == [0.0, 0.0, 0.0]
    assert texts[2] in repr(timeline)
    assert cells(timeline._repr_html_())[1:] == [["0", "0", texts[0]], ["2", "0", texts[2]]]
    without = inspector.ScaleTimeline(scaler.reports())
    assert "of parameter 2 is inf" in without.points[0].text
    assert "history above 0" in repr(inspector.ScaleTimeline([]))
    bad = dict(scaler.reports()[0], event="none of them")
    with pytest.raises(ValueError, match="expected an event"):
        inspector.ScaleTimeline([bad])
