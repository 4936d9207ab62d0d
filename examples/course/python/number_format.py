"""Binary floating-point formats: core/numbers/number_format.h in Python, for formats of up to 32 bits.

    rounded_to(FP16, 0.1)  # 0.0999755859375
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class NumberFormat:
    """has_infinity is false if the largest exponent has finite values and the only NaN has all bits set."""
    name: str
    exponent_bits: int
    fraction_bits: int
    has_infinity: bool = True

    @property
    def bits(self) -> int:
        return 1 + self.exponent_bits + self.fraction_bits

    @property
    def bias(self) -> int:
        return 2 ** (self.exponent_bits - 1) - 1

    @property
    def min_exponent(self) -> int:
        """The exponent of the smallest normal number."""
        return 1 - self.bias

    @property
    def smallest(self) -> float:
        """The smallest subnormal number, which is also the spacing of all subnormal numbers."""
        return math.ldexp(1.0, self.min_exponent - self.fraction_bits)

    @property
    def largest(self) -> float:
        if self.has_infinity:
            return math.ldexp(2.0 - math.ldexp(1.0, -self.fraction_bits), self.bias)
        return math.ldexp(2.0 - math.ldexp(2.0, -self.fraction_bits), self.bias + 1)

    def spacing(self, x: float) -> float:
        """The distance from |x| to the next larger value of the format."""
        exponent = max(math.frexp(abs(x))[1] - 1, self.min_exponent) if x else self.min_exponent
        return math.ldexp(1.0, exponent - self.fraction_bits)


FP32 = NumberFormat("float32", 8, 23)
FP16 = NumberFormat("float16", 5, 10)
BF16 = NumberFormat("bfloat16", 8, 7)
FP8_E4M3 = NumberFormat("float8_e4m3fn", 4, 3, has_infinity=False)
FP8_E5M2 = NumberFormat("float8_e5m2", 5, 2)


def rounded_to(number_format: NumberFormat, x: float) -> float:
    """x rounded to nearest, ties to even; overflow gives inf, or NaN in a format without it."""
    if not math.isfinite(x):
        return x if number_format.has_infinity else math.nan
    spacing = number_format.spacing(x)
    result = math.copysign(round(abs(x) / spacing) * spacing, x)  # round() rounds ties to even, as IEEE 754 does
    if abs(result) > number_format.largest:
        return math.copysign(math.inf, x) if number_format.has_infinity else math.nan
    return result


def encode(number_format: NumberFormat, x: float) -> int:
    """The bit pattern of x, rounded to the format."""
    value = rounded_to(number_format, x)
    sign = 1 << (number_format.bits - 1) if math.copysign(1.0, value) < 0 else 0
    ones = (1 << number_format.exponent_bits) - 1
    if math.isnan(value):
        return ones << number_format.fraction_bits | 1 << (number_format.fraction_bits - 1)
    if math.isinf(value):
        return sign | ones << number_format.fraction_bits
    steps = round(abs(value) / number_format.spacing(value))  # the significand, hidden bit included
    if steps < 1 << number_format.fraction_bits:
        return sign | steps  # subnormal
    exponent = math.frexp(abs(value))[1] - 1 + number_format.bias
    return sign | exponent << number_format.fraction_bits | steps - (1 << number_format.fraction_bits)
