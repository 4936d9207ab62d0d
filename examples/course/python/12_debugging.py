"""Chapter 12: three runs in fp16 that collapse, each for another reason, read from their step reports.

The inspector (find_overflow, OpLog, UnderflowLedger) is C++ only; the C++ program shows what it says."""

import chart
import course

import halfgrad as hg

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


def train(middle: str, steps: int, lr: float, init_scale: float) -> list[dict]:
    """Returns the reports of all steps."""
    data = make_data()
    hg.manual_seed(4)
    model = Net(middle)
    optimizer = hg.optim.SGD(model.parameters(), lr=lr)
    scaler = hg.amp.GradScaler(init_scale=init_scale, history=steps)
    for step in range(steps):
        x, y = data[step % BATCHES]
        optimizer.zero_grad()
        with hg.autocast("cpu"):
            loss = hg.nn.functional.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    return scaler.reports()


def skipped_steps(reports: list[dict]) -> list[int]:
    return [report["step"] for report in reports if report["stepped"] and report["found_inf"]]


def main(chapter: course.Chapter) -> None:
    runs = {"one": ("relu", 160, 0.05, 2.0**40), "two": ("square", 100, 0.9, 16.0),
            "three": ("unit_length", 160, 0.05, 1024.0)}
    scales = []
    for name, setting in runs.items():
        reports = train(*setting)
        skipped = skipped_steps(reports)
        print(f"Run {name}:\n{reports[skipped[0]]['text']}")
        chapter.fact(name + "_first_skipped", skipped[0])
        chapter.fact(name + "_skipped", len(skipped))
        chapter.fact(name + "_last_scale", reports[-1]["next_scale"])
        scales.append(chart.Series(name, [float(report["step"]) for report in reports],
                                   [report["scale"] for report in reports]))
    print("The three runs without their causes:")
    repaired = {"one": ("relu", 160, 0.05, 65536.0), "two": ("square", 100, 0.1, 16.0),
                "three": ("repaired", 160, 0.05, 1024.0)}
    for name, setting in repaired.items():
        chapter.fact(name + "_repaired_skipped", len(skipped_steps(train(*setting))))
    chapter.picture("scales", chart.line_chart(
        chart.Chart(title="The loss scale of three runs", x=chart.Axis("step"),
                    y=chart.Axis("scale", scale="log2")), scales))


if __name__ == "__main__":
    course.run(main, "12_debugging", "Finds out why three runs in fp16 collapse.")
