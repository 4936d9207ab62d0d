"""Chapter 6, the GradScaler's state machine: a trace of twenty steps, and a training that looks for
its scale. The machines of other systems are in the C++ program alone."""

import math

import chart
import course
import halfgrad as hg
from halfgrad import amp, inspector, nn, optim

# The gradients of one weight. 65504 is fp16's largest value, so a step overflows if
# gradient * scale is more.
GRADIENTS = [0.5] * 12 + [3.0] * 3 + [0.1] * 3 + [math.nan, 0.1]
INTERVAL = 4


def next_state(scale: float, good: int, found_inf: bool) -> tuple:
    """The state machine as a pure function: returns the next scale and the good steps."""
    if found_inf:
        return scale * 0.5, 0
    if good + 1 == INTERVAL:
        return scale * 2, 0
    return scale, good + 1


def show_events(events: list[inspector.ScalePoint]) -> None:
    """Prints the causes. The text counts steps from 1, reports count them from 0."""
    for point in events:
        print(f"step {point.step + 1}: {point.text}")
    print()


def show_trace(chapter: course.Chapter) -> None:
    scaler = amp.GradScaler(init_scale=32768, growth_interval=INTERVAL, history=len(GRADIENTS))
    weight = hg.ones(1).requires_grad_()
    optimizer = optim.SGD([weight], lr=0.01)
    state = (32768.0, 0)
    print("step  gradient   scale  in fp16  found_inf  weight  good  event    next scale")
    for step, gradient in enumerate(GRADIENTS):
        optimizer.zero_grad()
        copy = weight.half()  # as autocast makes it
        scaler.scale(copy.float() * gradient).backward()
        in_fp16 = weight.grad.item()
        scaler.step(optimizer)
        scaler.update()
        report = scaler.reports()[-1]
        state = next_state(*state, report["found_inf"])
        if state != (report["next_scale"], report["good_steps"]):
            raise RuntimeError(f"trace: the scaler and next_state() differ in step {step + 1}")
        print(f"{step + 1:4}  {gradient:8.6g}  {report['scale']:6.6g}  {in_fp16:7.6g}"
              f"  {int(report['found_inf']):9}  {weight.item():6.3f}  {report['good_steps']:4}"
              f"  {report['event']:<7}  {report['next_scale']:10.6g}")
    print()
    timeline = inspector.ScaleTimeline(scaler.reports())
    show_events(timeline.events())
    chapter.fact("first_growth", 1 + next(p.step for p in timeline.points if p.event == "growth"))
    chapter.fact("first_skip", 1 + next(p.step for p in timeline.points if p.skipped))
    counts = scaler.counts()
    chapter.fact("skipped", counts["skipped_steps"])
    chapter.fact("growths", counts["growths"])
    chapter.fact("backoffs", counts["backoffs"])
    chapter.fact("last_scale", scaler.get_scale())


def show_timeline(chapter: course.Chapter) -> None:
    """Trains on the small answers of chapter 4 with a scale that is far too large at first."""
    hg.manual_seed(1)
    teacher = hg.randn(4, 256)
    x = hg.rand(256, 4) * 2 - 1
    target = hg.tanh(x @ teacher) * 5e-4
    last = nn.Linear(64, 256)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    model = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), last)
    optimizer = optim.Adam(model.parameters(), lr=1e-4, eps=1e-12)
    scaler = amp.GradScaler(init_scale=2.0**44, growth_interval=8, history=chapter.steps)
    losses = []
    for _ in range(chapter.steps):
        optimizer.zero_grad()
        with hg.autocast("cpu"):
            loss = nn.functional.mse_loss(model(x), target)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    timeline = inspector.ScaleTimeline(scaler.reports(), model, [optimizer])
    skips = [point.skipped for point in timeline.points]
    at_start = skips.index(False)
    print(f"\nSmall answers, first scale 2^44, growth interval 8:\n{timeline.summary()}")
    show_events(timeline.events()[:at_start + 2])
    chapter.fact("skipped_at_start", at_start)
    chapter.fact("skipped_later", sum(skips) - at_start)
    chapter.fact("scale_after_start", timeline.points[at_start].scale)
    scales = [math.log2(point.scale) for point in timeline.points]
    chapter.picture("timeline", chart.line_chart(
        chart.Chart("The scale of each step", chart.Axis("step", low=0, high=chapter.steps),
                    chart.Axis("k, for the scale 2^k")),
        [chart.Series("scale", range(1, chapter.steps + 1), scales)]))
    chapter.fact("learnt", round(100 * (1 - losses[-1] / losses[0])))


def main(chapter: course.Chapter) -> None:
    show_trace(chapter)
    show_timeline(chapter)


if __name__ == "__main__":
    course.run(main, slug="06_grad_scaler", steps=160,
               does="Follows the state machine of a GradScaler, step by step.")
