"""Chapter 5, loss scaling by hand: multiply the loss, divide the gradients, choose the factor."""

from dataclasses import dataclass

import chart
import course
import halfgrad as hg
from halfgrad import nn, optim

BATCH = POINTS = 256


class Task:
    """A regression task with answers below 0.0005 (chapter 4), and a network that answers 0."""

    def __init__(self) -> None:
        hg.manual_seed(1)
        teacher = hg.randn(4, POINTS)
        self.x = hg.rand(BATCH, 4) * 2 - 1
        last = nn.Linear(64, POINTS)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
        self.target = hg.tanh(self.x @ teacher) * 5e-4
        self.model = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), last)

    def loss(self, autocasts: bool) -> hg.Tensor:
        with hg.autocast("cpu", enabled=autocasts):
            return nn.functional.mse_loss(self.model(self.x), self.target)


def multiply_and_backward(loss: hg.Tensor, scale: float) -> None:
    (loss * scale).backward()


def unscale(parameters: list, scale: float) -> None:
    for parameter in parameters:
        parameter.grad.mul_(1 / scale)


def all_finite(parameters: list) -> bool:
    return all(hg.isfinite(parameter.grad).all().item() for parameter in parameters)


@dataclass
class Training:
    percent_learnt: float  # by how many percent the loss fell
    skipped: int
    percent_nan: float  # share of the weights that are NaN at the end


def train(steps: int, scale: float = 1, autocasts: bool = True, checks: bool = False) -> Training:
    task = Task()
    parameters = list(task.model.parameters())
    optimizer = optim.Adam(parameters, lr=1e-4, eps=1e-12)
    losses, skipped = [], 0
    for _ in range(steps):
        optimizer.zero_grad()
        loss = task.loss(autocasts)
        multiply_and_backward(loss, scale)
        unscale(parameters, scale)
        if checks and not all_finite(parameters):
            skipped += 1
        else:
            optimizer.step()
        losses.append(loss.item())
    broken = sum((parameter != parameter).sum().item() for parameter in parameters)
    count = sum(parameter.numel() for parameter in parameters)
    return Training(100 * (1 - losses[-1] / losses[0]), skipped, 100 * broken / count)


def first_gradient(scale: float = 1, autocasts: bool = True) -> hg.Tensor:
    """The unscaled gradients of the first step, as one vector."""
    task = Task()
    multiply_and_backward(task.loss(autocasts), scale)
    unscale(list(task.model.parameters()), scale)
    return hg.cat([parameter.grad.reshape(-1) for parameter in task.model.parameters()])


def size_of(x: hg.Tensor) -> float:
    return x.double().norm().item()


def show_first_step(chapter: course.Chapter) -> None:
    print("The gradient of the first step, compared with fp32:")
    exact = first_gradient(autocasts=False)
    for exponent in (0, 8, 16, 24):
        error = size_of(first_gradient(2.0**exponent) - exact)
        chapter.fact(f"error_2_{exponent}", 100 * error / size_of(exact))
    print("\nfp32 gradients that change when they are scaled and unscaled:")
    gradients = hg.randn(100000)
    for scale in (1000, 1024):
        back = (gradients * scale) * (1 / scale)
        chapter.fact(f"changed_by_{scale}", 100 * (back != gradients).float().mean().item())


def show_choice(chapter: course.Chapter) -> None:
    safe = 0  # the largest power of two without an inf or a NaN in the first step's gradients
    while hg.isfinite(first_gradient(2.0**(safe + 1))).all().item():
        safe += 1
    print()
    chapter.fact("safe_scale", 2.0**safe)
    chapter.fact("overflow_exponent", safe + 1)

    print(f"\nLoss learnt in {chapter.steps} steps:")
    fp32 = train(chapter.steps, autocasts=False).percent_learnt
    chapter.fact("learnt_fp32", fp32)
    broken, exponents, learnt = [], [], []
    for exponent in range(0, 41, 2):
        training = train(chapter.steps, 2.0**exponent)
        print(f"scale 2^{exponent:<2}  learnt {training.percent_learnt:6.2f} %"
              f"  NaN in {training.percent_nan:3.0f} % of the weights")
        if exponent in (0, 2, 4, 8, 24):
            chapter.fact(f"learnt_2_{exponent}", training.percent_learnt)
        if training.percent_nan > 0:
            broken.append(exponent)
        exponents.append(exponent)
        learnt.append(training.percent_learnt)
    chapter.fact("broken_scale", 2.0**broken[0])
    chapter.picture("plateau", chart.line_chart(
        chart.Chart("What a network learns with each loss scale",
                    chart.Axis("k, for the scale 2^k", low=0, high=40),
                    chart.Axis("loss learnt, %", low=0, high=115),  # leaves space for the word NaN
                    bands=[chart.Band(broken[0], 40, "NaN", "pale_four")], points=True),
        [chart.Series("fp16", exponents, learnt),
         chart.Series("fp32", [0, 40], [fp32, fp32], dashed=True)]))


def show_overflow(chapter: course.Chapter) -> None:
    print("\nTen steps with scale 2^40:")
    chapter.fact("nan_unchecked", train(10, 2.0**40).percent_nan)
    checked = train(10, 2.0**40, checks=True)
    chapter.fact("nan_checked", checked.percent_nan)
    chapter.fact("skipped_checked", checked.skipped)

    print("\nClipping to norm 1e-4, before and after unscaling:")
    limit = 1e-4
    true_norm = size_of(first_gradient(65536))
    chapter.fact("true_norm", true_norm)
    chapter.fact("scaled_norm", true_norm * 65536)
    chapter.fact("clip_damage", true_norm * 65536 / limit)


def main(chapter: course.Chapter) -> None:
    show_first_step(chapter)
    show_choice(chapter)
    show_overflow(chapter)


if __name__ == "__main__":
    course.run(main, slug="05_loss_scaling", steps=100,
               does="Scales a loss by hand, with every power of two up to 2^40.")
