"""Chapter 12: three runs in fp16 that collapse, each for another reason, and what the inspector says."""

import math
from dataclasses import dataclass, field
from typing import Optional

import chart
import course

import halfgrad as hg
from halfgrad import inspector

BATCHES, BATCH, INPUTS, HIDDEN = 8, 16, 8, 16


def make_data() -> list[tuple[hg.Tensor, hg.Tensor]]:
    """8 batches, used in turn. The fourth sample of batch 5 is all zeros."""
    hg.manual_seed(3)
    data = []
    for batch in range(BATCHES):
        x = hg.rand(BATCH, INPUTS) * 2 - 1
        y = x.sum(1, keepdim=True)
        if batch == 5:
            x[3] = 0.0
        data.append((x, y))
    return data


class Net(hg.nn.Module):
    def __init__(self, middle: str) -> None:
        super().__init__()
        self.first = hg.nn.Linear(INPUTS, HIDDEN, bias=False)
        self.last = hg.nn.Linear(HIDDEN, 1)
        self.middle = middle

    def forward(self, x: hg.Tensor) -> hg.Tensor:
        h = self.first(x)
        if self.middle == "relu":
            return self.last(hg.relu(h))
        if self.middle == "square":
            return self.last(h * h)
        if self.middle == "unit_length":  # each row of h divided by its length; 0.01 for rows of zeros
            return self.last(h / (hg.sqrt((h * h).sum(1, keepdim=True)) + 0.01))
        return self.last(h / hg.sqrt((h * h).sum(1, keepdim=True) + 1e-4))


@dataclass
class Setting:
    middle: str
    steps: int
    lr: float
    init_scale: float
    fp16: bool = True  # False: all in float32


@dataclass
class Diary:
    """The records of a run."""
    losses: list[float] = field(default_factory=list)
    first: Optional[inspector.Overflow] = None  # the cause of the first skipped step
    log: str = ""  # the ops of that step
    recommended: float = 1.0  # the scale, from the last step
    timeline: Optional[inspector.ScaleTimeline] = None

    def skipped(self) -> list[int]:
        return [point.step for point in self.timeline.points if point.skipped]

    def last_loss(self) -> float:
        """The mean of the last epoch's losses."""
        return sum(self.losses[-BATCHES:]) / BATCHES


def train(setting: Setting) -> Diary:
    data = make_data()
    hg.manual_seed(4)
    model = Net(setting.middle)
    optimizer = hg.optim.SGD(model.parameters(), lr=setting.lr)
    scaler = hg.amp.GradScaler(init_scale=setting.init_scale, history=setting.steps)
    diary = Diary()
    for step in range(setting.steps):
        x, y = data[step % BATCHES]

        def compute_loss() -> hg.Tensor:
            with hg.autocast("cpu", enabled=setting.fp16):
                return hg.nn.functional.mse_loss(model(x), y)

        scale = scaler.get_scale()
        ledger = inspector.UnderflowLedger(model)
        optimizer.zero_grad()
        with ledger.observe(scale):
            loss = compute_loss()
            diary.losses.append(loss.item())
            scaler.scale(loss).backward()
        if scaler.step(optimizer).skipped() and not diary.first:
            diary.first = inspector.find_overflow(model, compute_loss, scale=scale)
            log = inspector.OpLog(model)
            with log:
                compute_loss()
            diary.log = repr(log)
        scaler.update()
        if step + 1 == setting.steps:
            diary.recommended = ledger.recommend().scale
    diary.timeline = inspector.ScaleTimeline(scaler.reports(), model, [optimizer])
    return diary


def investigate(chapter: course.Chapter, name: str, setting: Setting) -> chart.Series:
    diary = train(setting)
    skipped, points = diary.skipped(), diary.timeline.points
    print(f"Run {name}:\nstep {skipped[0]}: {points[skipped[0]].text}\n{diary.first}")
    chapter.fact(name + "_first_skipped", skipped[0])
    chapter.fact(name + "_skipped", len(skipped))
    chapter.fact(name + "_last_scale", points[-1].next_scale)
    chapter.fact(name + "_cause", diary.first.cause)
    chapter.fact(name + "_op", diary.first.op)
    chapter.fact(name + "_what", diary.first.what)
    if diary.first.safe_scale is not None:
        chapter.fact(name + "_safe_scale", diary.first.safe_scale)
    chapter.fact(name + "_recommended", diary.recommended)
    loss = diary.last_loss()
    if math.isfinite(loss):  # its fourth digit depends on the order of sums, which differs between builds
        print(f"the last epoch's mean loss: {loss:.3g}")
    else:
        chapter.fact(name + "_last_loss", loss)
    print(diary.log)
    return chart.Series(name, [float(point.step) for point in points], [point.scale for point in points])


def repaired(chapter: course.Chapter, name: str, setting: Setting) -> None:
    """Prints how a run goes whose cause was removed."""
    diary = train(setting)
    chapter.fact(name + "_repaired_skipped", len(diary.skipped()))
    print(f"the last epoch's mean loss: {diary.last_loss():.3g}")


def main(chapter: course.Chapter) -> None:
    runs = {"one": Setting("relu", 160, 0.05, 2.0**40), "two": Setting("square", 100, 0.9, 16.0),
            "three": Setting("unit_length", 160, 0.05, 1024.0)}
    scales = [investigate(chapter, name, setting) for name, setting in runs.items()]
    print("The three runs without their causes:")
    repaired(chapter, "one", Setting("relu", 160, 0.05, 65536.0))
    repaired(chapter, "two", Setting("square", 100, 0.1, 16.0))
    repaired(chapter, "three", Setting("repaired", 160, 0.05, 1024.0))
    in_fp32 = train(Setting("square", 40, 0.9, 1.0, fp16=False))
    chapter.fact("two_fp32_last_loss", in_fp32.losses[-1])
    chapter.picture("scales", chart.line_chart(
        chart.Chart(title="The loss scale of three runs", x=chart.Axis("step"),
                    y=chart.Axis("scale", scale="log2")), scales))


if __name__ == "__main__":
    course.run(main, "12_debugging", "Finds out why three runs in fp16 collapse.")
