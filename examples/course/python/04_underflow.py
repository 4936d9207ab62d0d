"""Chapter 4, underflow: which gradients of a network are too small for fp16, and what that does."""

import math

import chart
import course
import halfgrad as hg
from halfgrad import data, nn, optim

SMALLEST = -24  # below 2**-24, fp16 has 0 only
NORMAL = -14  # below 2**-14, fp16 loses bits
WINDOW = 40


def draw(first: "Gradients", last: "Gradients") -> str:
    """Share of each exponent among all gradients, as curves over the magnitude."""
    exponents = range(-50, 17)
    magnitudes = [2.0**exponent for exponent in exponents]

    def curve(name: str, gradients: "Gradients") -> chart.Series:
        counts = [gradients.below(e + 1) - gradients.below(e) for e in exponents]
        shares = [round(200 * count / gradients.total) / 2 for count in counts]
        return chart.Series(name, magnitudes, shares)

    bands = [chart.Band(2.0**-50, 2.0**SMALLEST, "fp16: 0", "pale_four"),
             chart.Band(2.0**SMALLEST, 2.0**NORMAL, "subnormal", "pale_two"),
             chart.Band(2.0**NORMAL, 2.0**16, "fp16: normal", "pale_three")]
    return chart.line_chart(
        chart.Chart("Gradients of all activations, by magnitude",
                    chart.Axis("magnitude of the gradient", "log2", 2.0**-50, 2.0**16),
                    chart.Axis("% of all gradients"), bands),
        [curve("first 40 steps", first), curve("last 40 steps", last)])


class Gradients:
    """Magnitudes of gradients that hooks have collected."""

    def __init__(self, tensors: list) -> None:
        self.magnitudes = hg.cat([tensor.reshape(-1) for tensor in tensors]).abs()
        self.zeros = self.below(-200) + (self.magnitudes == 0).sum().item()
        self.total = self.magnitudes.numel()
        self.nonzero = self.total - self.zeros

    def below(self, exponent: int) -> int:
        """Returns how many are below 2**exponent, but not 0."""
        is_below = (self.magnitudes < 2.0**exponent) & (self.magnitudes != 0)
        return is_below.sum().item()

    def percent_below(self, exponent: int) -> float:
        return 100 * self.below(exponent) / self.nonzero

    def print(self) -> None:
        print(f"\nGradients of the last {WINDOW} steps; # is 0.25 %:")
        for exponent in range(-44, -5, 2):
            share = 100 * (self.below(exponent + 2) - self.below(exponent)) / self.total
            mark = "  <- smallest fp16 value" if exponent == SMALLEST else ""
            print(f"2^{exponent:<4} {share:6.2f} % {'#' * int(share * 4)}{mark}")


def train_digits(steps: int, autocasts: bool) -> tuple:
    """Trains on digits; returns the gradients of all activations in the first and in the last
    steps, and the last loss."""
    images, batch = 1024, 128
    pixels, labels = data.synthetic_digits(images, 1)
    x = pixels.reshape(images, 784).float() / 255
    hg.manual_seed(0)
    layers = [nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)]
    model = nn.Sequential(*layers)
    optimizer = optim.Adam(model.parameters(), lr=3e-3)
    first, last, loss = [], [], None
    for step in range(steps):
        kept = first if step < WINDOW else last if step >= steps - WINDOW else None
        at = step * batch % images
        optimizer.zero_grad()
        with hg.autocast("cpu", enabled=autocasts):
            activation = x[at:at + batch]
            for layer in layers:
                activation = layer(activation)
                if kept is not None:
                    activation.register_hook(kept.append)
            loss = nn.functional.cross_entropy(activation, labels[at:at + batch])
        loss.backward()
        optimizer.step()
    return first, last, loss.item()


# Small answers: a regression task whose whole gradient underflows.

POINTS = 256


def small_answers(batch: int) -> tuple:
    """Returns inputs [batch, 4] and targets [batch, 256], which are below 0.0005."""
    hg.manual_seed(1)
    teacher = hg.randn(4, POINTS)
    x = hg.rand(batch, 4) * 2 - 1
    return x, hg.tanh(x @ teacher) * 5e-4


def make_model() -> nn.Module:
    """A network that answers 0 before its first update."""
    last = nn.Linear(64, POINTS)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(nn.Linear(4, 64), nn.ReLU(), last)


def first_gradient(batch: int, scale: float, autocasts: bool) -> hg.Tensor:
    """dL/dy of the first step, with the loss multiplied by `scale`."""
    x, target = small_answers(batch)
    model = make_model()
    kept = []
    with hg.autocast("cpu", enabled=autocasts):
        y = model(x)
        y.register_hook(kept.append)
        (nn.functional.mse_loss(y, target) * scale).backward()
    return kept[0]


def percent_flushed(batch: int, scale: float) -> float:
    return 100 * (first_gradient(batch, scale, autocasts=True) == 0).float().mean().item()


def percent_learnt(autocasts: bool) -> float:
    """Trains 100 steps and returns by how many percent the loss fell."""
    x, target = small_answers(256)
    model = make_model()
    optimizer = optim.Adam(model.parameters(), lr=1e-4, eps=1e-12)
    losses = []
    for _ in range(100):
        optimizer.zero_grad()
        with hg.autocast("cpu", enabled=autocasts):
            loss = nn.functional.mse_loss(model(x), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return 100 * (1 - losses[-1] / losses[0])


def show_digits(chapter: course.Chapter) -> None:
    first, last, loss = train_digits(chapter.steps, autocasts=False)
    first, last = Gradients(first), Gradients(last)
    last.print()
    chapter.picture("histogram", draw(first, last))
    chapter.fact("zero", 100 * last.zeros / last.total)
    chapter.fact("below_first", first.percent_below(SMALLEST))
    chapter.fact("below_last", last.percent_below(SMALLEST))
    chapter.fact("subnormal_last", last.percent_below(NORMAL) - last.percent_below(SMALLEST))
    top = math.frexp(last.magnitudes.max().item())[1] - 1
    chapter.fact("top_exponent", top)
    chapter.fact("unused_exponents", 15 - top)
    chapter.fact("shift", next(k for k in range(200) if last.percent_below(SMALLEST - k) <= 1))
    chapter.fact("digits_loss_fp32", round(loss, 4))
    chapter.fact("digits_loss_fp16", round(train_digits(chapter.steps, autocasts=True)[2], 4))


def show_small_answers(chapter: course.Chapter) -> None:
    print("\nSmall answers: dL/dy of the first step, batch 256")
    chapter.fact("largest_gradient", first_gradient(256, 1, autocasts=False).abs().max().item())
    chapter.fact("half_of_smallest", 2.0**(SMALLEST - 1))
    print("Percent of it that is 0 in fp16, with the loss multiplied by 2^0, 2^4, ...:")
    for exponent in (0, 4, 8, 12, 16):
        chapter.fact(f"flushed_2_{exponent}", percent_flushed(256, 2.0**exponent))
    print("\nWithout a scale, for larger and larger batches:")
    lost = []
    for batch in (4, 8, 16, 32, 64, 128, 256, 512):
        flushed = percent_flushed(batch, 1)
        print(f"batch {batch:3}: {flushed:6.2f} % of dL/dy is 0")
        if flushed == 100:
            lost.append(batch)
    chapter.fact("batch_all_lost", lost[0])
    chapter.fact("learnt_fp32", percent_learnt(autocasts=False))
    chapter.fact("learnt_fp16", percent_learnt(autocasts=True))


def main(chapter: course.Chapter) -> None:
    show_digits(chapter)
    show_small_answers(chapter)


if __name__ == "__main__":
    course.run(main, slug="04_underflow", steps=400,
               does="Counts which gradients of two networks are too small for fp16.")
