"""RunReport: a training's page, its data, and how a notebook shows it."""

import html
import json
import re

import pytest

import halfgrad as hg
from halfgrad import amp, nn, optim


def trained(report, model, scaler, steps, device="cpu"):
    """Trains, and returns the losses."""
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        with hg.autocast(device):
            loss = model(hg.ones(4, 8) * (step + 1) / 8).float().square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        report.step(loss)
        losses.append(loss.item())
    return losses


def test_two_lines_record_a_training(tmp_path):
    hg.manual_seed(1)
    model, scaler = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2)), amp.GradScaler(init_scale=2.0**24)
    report = hg.RunReport(tmp_path / "run.html", model, scaler, every=4)
    losses = trained(report, model, scaler, 10)
    report.result("test accuracy (%)", 97.5)
    report.finish()
    run, = json.loads((tmp_path / "run.data.json").read_text())["runs"]
    assert run["steps"]["loss"] == pytest.approx(losses, rel=1e-6)
    assert run["skipped"] > 0 and run["scale_changes"][0]["scale"] == 2.0**24
    assert [sample["step"] for sample in run["exponents"]] == [0, 4, 8]
    assert [place["name"] for place in run["exponents"][0]["places"]][:2] == ["0.weight", "0.bias"]
    assert run["results"] == {"test accuracy (%)": 97.5}
    assert run["costs"]["steps"] == 3
    assert (tmp_path / "run.html").read_text().startswith("<!DOCTYPE html>")


def test_causes_name_parameters_in_the_order_of_the_optimizer(tmp_path):
    model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2))
    parameters = list(model.parameters())
    weights, biases = parameters[::2], parameters[1::2]
    optimizer = optim.SGD([{"params": biases}, {"params": weights}], lr=0.1)
    for given, name in ((optimizer, "2.bias"), ([optimizer], "2.bias"), ((), "parameter 1")):
        scaler = amp.GradScaler(init_scale=4.0, history=8)
        report = hg.RunReport(tmp_path / "run.html", model, scaler, given, every=0)
        for parameter in parameters:
            parameter.grad = hg.zeros(*parameter.shape)
        biases[1].grad[0] = float("inf")
        scaler.scale(hg.ones(()))
        scaler.step(optimizer)
        scaler.update()
        report.step(1.0)
        change, = report.data()["runs"][0]["scale_changes"]
        assert change["cause"] == f"skipped: 1 element of {name} is inf or NaN; 4 -> 2"


def test_a_notebook_shows_the_page(tmp_path):
    report = hg.RunReport(tmp_path / "run.html", title='A "title"')
    report.step(0.5, 1.0)
    shown = report._repr_html_()
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', shown)[1])
    assert page.startswith("<!DOCTYPE html>") and '<title>A "title"</title>' in page
    assert report.data()["runs"][0]["steps"]["loss"] == [0.5]
    report.finish()


def test_an_exception_leaves_a_page(tmp_path):
    with pytest.raises(ZeroDivisionError):
        with hg.RunReport(tmp_path / "run.html") as report:
            report.step(1.0)
            1 / 0
    assert json.loads((tmp_path / "run.data.json").read_text())["interrupted"]


def test_several_runs_share_a_page(tmp_path):
    report = hg.RunReport(tmp_path / "run.html", name="first", score="accuracy (%)")
    report.step(1.0, 50)
    report.begin_run(name="second", score="accuracy (%)")
    report.step(0.5, 75)
    report.finish()
    assert [run["name"] for run in report.data()["runs"]] == ["first", "second"]


def test_a_path_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(RuntimeError, match="expected to write .*missing"):
        hg.RunReport(tmp_path / "missing" / "run.html")
