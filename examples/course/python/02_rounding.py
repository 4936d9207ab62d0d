"""Chapter 2: rounding in sums, in Python. The functions are those of examples/course/02_rounding/sums.h."""

import math
from collections.abc import Callable, Sequence

import chart
import course
import halfgrad as hg
from number_format import BF16, FP16, FP32, NumberFormat, rounded_to


def naive(fmt: NumberFormat, x: Sequence[float]) -> float:
    total = 0.0
    for value in x:
        total = rounded_to(fmt, total + value)
    return total


def pairwise(fmt: NumberFormat, x: Sequence[float]) -> float:
    if len(x) == 1:
        return x[0]
    middle = len(x) // 2
    return rounded_to(fmt, pairwise(fmt, x[:middle]) + pairwise(fmt, x[middle:]))


def kahan(fmt: NumberFormat, x: Sequence[float]) -> float:
    total = lost = 0.0
    for value in x:
        corrected = rounded_to(fmt, value - lost)
        following = rounded_to(fmt, total + corrected)
        lost = rounded_to(fmt, rounded_to(fmt, following - total) - corrected)
        total = following
    return total


def wide(fmt: NumberFormat, x: Sequence[float]) -> float:
    return rounded_to(fmt, naive(FP32, x))


METHODS: dict[str, Callable[[NumberFormat, Sequence[float]], float]] = {
    "naive": naive, "pairwise": pairwise, "kahan": kahan, "wide": wide}


def stall(fmt: NumberFormat, step: float, start: float = 0.0) -> float:
    """Adds `step` until the sum does not change."""
    total = start
    while (following := rounded_to(fmt, total + step)) != total:
        total = following
    return total


def random_values(count: int) -> list[float]:
    """Values in [0, 1) from a linear congruential generator (Park, Miller and Stockmeyer 1993)."""
    state, values = 1, []
    for _ in range(count):
        state = state * 48271 % 2147483647
        values.append(rounded_to(FP16, rounded_to(FP32, state / 2147483647)))
    return values


def print_stalls(chapter: course.Chapter) -> None:
    print("A sum of ones stops growing at")
    chapter.fact("stall_fp16", stall(FP16, 1.0))
    chapter.fact("stall_bf16", stall(BF16, 1.0))
    chapter.fact("stall_fp32", stall(FP32, 1.0, start=2.0**24 - 1000))  # Python is slow: not from 0
    print("A sum of tenths stops growing at")
    chapter.fact("stall_tenths_fp16", stall(FP16, rounded_to(FP16, 0.1)))
    chapter.fact("stall_tenths_bf16", stall(BF16, rounded_to(BF16, 0.1)))
    print("The order of a sum matters")
    chapter.fact("big_first", naive(FP16, [2048, 1, 1]))
    chapter.fact("ones_first", naive(FP16, [1, 1, 2048]))


def print_methods(chapter: course.Chapter) -> None:
    print("\n4096 random values in [0, 1), added in fp16: errors in percent")
    x = random_values(4096)
    exact = math.fsum(x)
    chapter.fact("exact_sum", exact)
    chapter.fact("naive_sum", naive(FP16, x))
    for name, method in METHODS.items():
        chapter.fact(f"{name}_error_percent", 100 * abs(method(FP16, x) - exact) / exact)
    print("4096 ones, added in bf16")
    for name in ("naive", "pairwise", "kahan"):
        chapter.fact(f"{name}_ones_bf16", METHODS[name](BF16, [1.0] * 4096))

    print("The library's sum and product of the same fp16 values")
    values = hg.tensor(x, dtype=hg.float64).to(hg.float16)
    chapter.fact("library_sum", values.sum().item())
    product = hg.mm(values.reshape(1, 4096), hg.ones(4096, 1).to(hg.float16))
    chapter.fact("library_product", product.item())
    chapter.fact("library_dtype", str(product.dtype).removeprefix("halfgrad."))


def draw_stalls() -> str:
    series = [chart.Series("fp16", [], []), chart.Series("bf16", [], []), chart.Series("exact", [], [], dashed=True)]
    counts = [2**i for i in range(14)]
    for one, fmt in zip(series, (FP16, BF16, FP32)):
        one.x = counts
        one.y = [naive(fmt, [1.0] * count) for count in counts]
    return chart.line_chart(
        chart.Chart("Adding ones: the sum stalls at 2048 in fp16, at 256 in bf16", chart.Axis("ones added", "log2"),
                    chart.Axis("sum", "log2"), points=True), series)


def draw_errors() -> str:
    names = {"naive": "one by one", "pairwise": "pairwise", "kahan": "Kahan", "wide": "fp32 accumulator"}
    series = [chart.Series(shown, [], [], dashed=name == "wide") for name, shown in names.items()]
    counts = [2**i for i in range(4, 15)]
    for one, name in zip(series, names):
        one.x = counts
        one.y = []
        for count in counts:
            x = random_values(count)
            exact = math.fsum(x)
            one.y.append(max(abs(METHODS[name](FP16, x) - exact) / exact, 2.0**-20))  # 0 has no logarithm
    return chart.line_chart(
        chart.Chart("Relative error of sums of n random values in fp16", chart.Axis("n", "log2"),
                    chart.Axis("relative error", "log2"), limits=[chart.Limit(2.0**-11, "one roundoff of fp16")],
                    points=True), series)


def main(chapter: course.Chapter) -> None:
    print_stalls(chapter)
    print_methods(chapter)
    chapter.picture("stall", draw_stalls())
    chapter.picture("errors", draw_errors())


if __name__ == "__main__":
    course.run(main, "02_rounding", "Adds up values in 16 bits, in four ways.")
