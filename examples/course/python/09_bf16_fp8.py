"""Chapter 9: one small network trained in float32, in bfloat16, and in fp8 with and without scales;
 then one scale alone, when an outlier or growing gradients meet its history."""

import math

import chart
import course
import numpy as np

import halfgrad as hg

INPUTS, HIDDEN, OUTPUTS, BATCH, HISTORY = 8, 64, 64, 128, 16
FP32 = {"largest": 2.0**128 - 2.0**104, "smallest_exponent": -126, "fraction_bits": 23}
BF16 = {"largest": 2.0**128 - 2.0**120, "smallest_exponent": -126, "fraction_bits": 7}
E4M3 = {"largest": 448.0, "smallest_exponent": -6, "fraction_bits": 3}
E5M2 = {"largest": 57344.0, "smallest_exponent": -14, "fraction_bits": 2}


def rounded(values: np.ndarray, form: dict) -> np.ndarray:
    """Rounds float64 values to the format, to nearest even, and clips them to its largest."""
    exponent = np.maximum(np.frexp(values)[1] - 1, form["smallest_exponent"])
    quantum = np.ldexp(1.0, exponent - form["fraction_bits"])
    return np.clip(np.rint(values / quantum) * quantum, -form["largest"], form["largest"])


class TensorScale:
    """The scale of one tensor: always 1 ("unscaled"), or made from the last steps ("delayed")."""

    def __init__(self, form: dict, recipe: str, history: int, margin: int = 0) -> None:
        self.form, self.recipe, self.length, self.margin = form, recipe, history, margin
        self.history: list[float] = []
        self.scale, self.clipped, self.flushed = 1.0, 0, 0

    def quantized(self, tensor: hg.Tensor) -> hg.Tensor:
        values = tensor.detach().contiguous().numpy()
        amax = float(np.abs(values).max())
        scaled = values * self.scale
        result = rounded(scaled, self.form)
        self.clipped += int((np.abs(scaled) > self.form["largest"]).sum())
        self.flushed += int(((values != 0) & (result == 0)).sum())
        result = result / self.scale
        if self.recipe == "delayed":
            self.remember(amax)
        return hg.tensor(result)

    def remember(self, amax: float) -> None:
        self.history = [*self.history, amax if math.isfinite(amax) else 0.0][-self.length:]
        if max(self.history) > 0:
            self.scale = math.ldexp(self.form["largest"] / max(self.history), -self.margin)


class Linear(hg.autograd.Function):
    """y = x w^T with rounded operands, and with rounded gradients in the backward pass."""

    @staticmethod
    def forward(ctx, x, w, scales):
        rounded_x, rounded_w = scales["input"].quantized(x), scales["weight"].quantized(w)
        ctx.save_for_backward(rounded_x, rounded_w)
        ctx.scales = scales
        return hg.nn.functional.linear(rounded_x, rounded_w)

    @staticmethod
    def backward(ctx, gradient):
        x, w = ctx.saved_tensors
        dy = ctx.scales["gradient"].quantized(gradient)
        return hg.matmul(dy, w), hg.matmul(dy.transpose(0, 1), x), None


def uniform(*sizes: int, size: float) -> hg.Tensor:
    """Uniform on [-size, size]. Drawn in float32, whose uniform numbers are exact on every machine."""
    return (hg.rand(*sizes).to(hg.float64) * 2 - 1) * size


class Layer:
    def __init__(self, inputs: int, outputs: int, size: float, forward: dict, backward: dict, recipe: str):
        self.weight = uniform(outputs, inputs, size=size).detach().requires_grad_()
        self.bias = hg.zeros(outputs, dtype=hg.float64).requires_grad_()
        formats = {"input": forward, "weight": forward, "gradient": backward}
        self.scales = {name: TensorScale(form, recipe, HISTORY) for name, form in formats.items()}

    def __call__(self, x: hg.Tensor) -> hg.Tensor:
        return Linear.apply(x, self.weight, self.scales) + self.bias


def train(forward: dict, backward: dict, recipe: str, steps: int) -> tuple[list[float], int]:
    """Returns the loss of each step and the number of gradients that became 0."""
    hg.manual_seed(1)
    teacher1, teacher2 = uniform(INPUTS, 32, size=2), uniform(32, OUTPUTS, size=2e-3)
    first = Layer(INPUTS, HIDDEN, 0.35, forward, backward, recipe)
    second = Layer(HIDDEN, HIDDEN, 0.125, forward, backward, recipe)
    last = Layer(HIDDEN, OUTPUTS, 0.002, forward, backward, recipe)
    parameters = [p for layer in (first, second, last) for p in (layer.weight, layer.bias)]
    optimizer = hg.optim.Adam(parameters, lr=1e-3)
    losses = []
    for _ in range(steps):
        x = uniform(BATCH, INPUTS, size=2)
        target = hg.matmul(hg.tanh(hg.matmul(x, teacher1) / 3), teacher2)
        loss = hg.nn.functional.mse_loss(last(hg.relu(second(hg.relu(first(x))))), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item() / (target * target).mean().item())
    return losses, last.scales["gradient"].flushed


def print_formats(chapter: course.Chapter) -> None:
    print("What the formats hold:")
    formats = {"fp16": (65504.0, 2.0**-24), "e4m3": (448.0, 2.0**-9), "e5m2": (57344.0, 2.0**-16)}
    for name, (largest, smallest) in formats.items():
        chapter.fact(name + "_largest", largest)
        chapter.fact(name + "_smallest", smallest)
        chapter.fact(name + "_doublings", math.log2(largest / smallest))
    for name, fraction_bits in {"bf16": 7, "e4m3": 3, "e5m2": 2}.items():
        chapter.fact(name + "_after_one", 1 + 2.0**-fraction_bits)


def train_all(chapter: course.Chapter) -> None:
    curves = []
    runs = [("fp32", FP32, FP32, "unscaled"), ("bf16", BF16, BF16, "unscaled"),
            ("fp8_delayed", E4M3, E5M2, "delayed"), ("fp8_unscaled", E4M3, E5M2, "unscaled")]
    for name, forward, backward, recipe in runs:
        losses, flushed = train(forward, backward, recipe, chapter.steps)
        print(f"Trained in {name}:")
        end = losses[-20:]
        chapter.fact(name + "_loss", sum(end) / len(end))
        chapter.fact(name + "_flushed_percent", 100 * flushed / (chapter.steps * BATCH * OUTPUTS))
        steps = [float(step) for step in range(chapter.steps)]
        curves.append(chart.Series(name, steps, losses, dashed=name == "bf16"))
    chapter.picture("loss", chart.line_chart(
        chart.Chart(title="Loss / loss of the answer 0", x=chart.Axis("step"),
                    y=chart.Axis("relative loss", scale="log10")), curves))


def steps_clipped(margin: int) -> int:
    """Number of steps that clip a value, of 40 in which the amax grows by a quarter each."""
    tensor = TensorScale(E5M2, "delayed", HISTORY, margin)
    steps, amax = 0, 1.0
    for _ in range(40):
        before = tensor.clipped
        tensor.quantized(hg.tensor([amax], dtype=hg.float64))
        steps += tensor.clipped > before
        amax *= 1.25
    return steps


def watch_one_scale(chapter: course.Chapter) -> None:
    at, outlier, count = 20, 64.0, 60
    tensor = TensorScale(E4M3, "delayed", HISTORY)
    scales, clipped = [], 0
    for step in range(count):
        scales.append(tensor.scale)
        before = tensor.clipped
        tensor.quantized(hg.tensor([outlier if step == at else 1.0, 0.5, 0.25, 1e-4], dtype=hg.float64))
        if step == at:
            clipped = tensor.clipped - before
    recovered = next(step for step in range(at + 2, count) if scales[step] == scales[at])
    print(f"One outlier of 64 in step {at}, history of {HISTORY} steps:")
    chapter.fact("history", HISTORY)
    chapter.fact("scale_before", scales[at])
    chapter.fact("scale_after", scales[at + 1])
    chapter.fact("outlier_clipped", clipped)
    chapter.fact("recovered_step", recovered)
    print("Gradients that grow by a quarter each step, for 40 steps:")
    chapter.fact("clipped_steps_margin_0", steps_clipped(0))
    chapter.fact("clipped_steps_margin_1", steps_clipped(1))
    chapter.picture("outlier", chart.line_chart(
        chart.Chart(title="The scale of a tensor with one outlier", x=chart.Axis("step"),
                    y=chart.Axis("scale", scale="log2"),
                    limits=[chart.Limit(at, "outlier", vertical=True)]),
        [chart.Series("history of 16 steps", [float(step) for step in range(count)], scales)]))


def main(chapter: course.Chapter) -> None:
    print_formats(chapter)
    train_all(chapter)
    watch_one_scale(chapter)


if __name__ == "__main__":
    course.run(main, "09_bf16_fp8", "Trains a network in fp32, bf16 and emulated fp8.", steps=200)
