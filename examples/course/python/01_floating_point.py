"""Chapter 1: floating point on one page, in Python. The C++ program draws two pictures more."""

import math

import chart
import course
import halfgrad as hg
import number_format as nf

FORMATS = {"fp32": nf.FP32, "bf16": nf.BF16, "fp16": nf.FP16, "e5m2": nf.FP8_E5M2, "e4m3": nf.FP8_E4M3}


def print_formats(chapter: course.Chapter) -> None:
    print("The formats: sign, exponent and fraction bits, and what they can hold")
    for name, fmt in FORMATS.items():
        chapter.fact(f"exponent_bits_{name}", fmt.exponent_bits)
        chapter.fact(f"fraction_bits_{name}", fmt.fraction_bits)
        chapter.fact(f"bias_{name}", fmt.bias)
        chapter.fact(f"smallest_{name}", fmt.smallest)
        chapter.fact(f"smallest_normal_{name}", math.ldexp(1.0, fmt.min_exponent))
        chapter.fact(f"largest_{name}", fmt.largest)
        chapter.fact(f"spacing_at_1_{name}", fmt.spacing(1))
        chapter.fact(f"tenth_{name}", nf.rounded_to(fmt, 0.1))


def print_anatomy(chapter: course.Chapter) -> None:
    print("\n-6.5 in fp16, bit by bit")
    bits = nf.encode(nf.FP16, -6.5)
    chapter.fact("anatomy_sign", bits >> 15)
    chapter.fact("anatomy_exponent", bits >> 10 & 31)
    chapter.fact("anatomy_fraction", bits & 1023)
    chapter.fact("anatomy_significand", 1 + (bits & 1023) / 1024)
    chapter.fact("anatomy_value", -math.ldexp(1 + (bits & 1023) / 1024, (bits >> 10 & 31) - 15))


def print_spacing(chapter: course.Chapter) -> None:
    print("\nThe distance to the next larger value")
    for x in (1, 100, 1000, 2048, 30000):
        chapter.fact(f"spacing_at_{x}_in_fp16", nf.FP16.spacing(x))
        chapter.fact(f"spacing_at_{x}_in_bf16", nf.BF16.spacing(x))


def to_half(x: float) -> float:
    """The library's conversion, which every cast uses."""
    return hg.tensor(x, dtype=hg.float64).to(hg.float32).to(hg.float16).item()


def print_rounding(chapter: course.Chapter) -> None:
    print("\nRounding to nearest, ties to even")
    chapter.fact("rounded_2049", to_half(2049))
    chapter.fact("rounded_2050", to_half(2050))
    chapter.fact("rounded_2051", to_half(2051))
    chapter.fact("rounded_2050_5", to_half(2050.5))
    chapter.fact("rounded_bf16_257", nf.rounded_to(nf.BF16, 257))
    chapter.fact("rounded_bf16_259", nf.rounded_to(nf.BF16, 259))
    print("\nThe ends of fp16")
    chapter.fact("rounded_65519", to_half(65519))
    chapter.fact("rounded_65520", to_half(65520))
    chapter.fact("rounded_2_pow_minus_24", to_half(2.0**-24))
    chapter.fact("rounded_2_pow_minus_25", to_half(2.0**-25))
    chapter.fact("rounded_1e_minus_5", to_half(1e-5))
    chapter.fact("error_1e_minus_5_percent", 100 * abs(to_half(1e-5) / 1e-5 - 1))
    chapter.fact("roundoff_percent", 100 * 2.0**-11)
    chapter.fact("rounded_1e_minus_8", to_half(1e-8))
    chapter.fact("rounded_bf16_70000", nf.rounded_to(nf.BF16, 70000))


def print_special(chapter: course.Chapter) -> None:
    print("\nSpecial values")
    inf = to_half(70000)
    nan = inf - inf
    chapter.fact("inf_minus_inf", nan)
    chapter.fact("inf_times_0", inf * to_half(1e-8))
    chapter.fact("nan_equals_nan", "true" if nan == nan else "false")  # noqa: PLR0124
    chapter.fact("zeros_are_equal", "true" if to_half(-0.0) == 0 else "false")
    # Python raises an error for 1 / 0; tensors follow IEEE 754.
    chapter.fact("one_over_minus_zero", (1 / hg.tensor(to_half(-1e-8))).item())
    chapter.fact("e4m3_of_1000", nf.rounded_to(nf.FP8_E4M3, 1000))


def draw_spacing() -> str:
    series = []
    for name in ("fp32", "bf16", "fp16"):
        fmt, x, y = FORMATS[name], [], []
        for exponent in range(-30, 17):
            if exponent <= fmt.bias:
                x += [math.ldexp(1.0, exponent), math.ldexp(1.0, exponent + 1)]
                y += 2 * [fmt.spacing(math.ldexp(1.0, exponent))]
        series.append(chart.Series(name, x, y))
    return chart.line_chart(
        chart.Chart("The distance to the next value grows with the value",
                    chart.Axis("value", "log2", 2.0**-30, 2.0**17), chart.Axis("spacing", "log2", 2.0**-60, 2.0**20),
                    [chart.Band(2.0**-24, 2.0**-14, "fp16: subnormal", "pale_two")],
                    [chart.Limit(65504, "fp16: inf", vertical=True)]), series)


def main(chapter: course.Chapter) -> None:
    print_formats(chapter)
    print_anatomy(chapter)
    print_spacing(chapter)
    print_rounding(chapter)
    print_special(chapter)
    chapter.picture("spacing", draw_spacing())


if __name__ == "__main__":
    course.run(main, "01_floating_point", "Prints the bits, limits and spacing of floating-point formats.")
