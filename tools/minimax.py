#!/usr/bin/env python3
"""Prints the polynomial coefficients in core/math/float_math.h (needs mpmath).

Each polynomial is the best approximation in a weighted maximum norm, found by Remez' exchange algorithm
(E. W. Cheney, Introduction to Approximation Theory, chapter 3). The weight converts the error of the
polynomial into the relative error of the function that contains it.
"""
import argparse

argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()

from mpmath import mp, mpf, cos, erf, erfc, expm1, log, log1p, lu_solve, matrix, pi
from mpmath import polyval, sin, sqrt, tanh

mp.prec = 160


def remez(function, weight, low, high, degree, rounds=12, grid=1200):
    """Returns the coefficients, highest power first, and the largest weighted error."""
    low, high = mpf(low), mpf(high)
    middle, radius = (low + high) / 2, (high - low) / 2
    count = degree + 2
    points = [middle - radius * cos(pi * i / (count - 1)) for i in range(count)]
    candidates = [middle - radius * cos(pi * i / grid) for i in range(grid + 1)]
    exact = [(x, function(x), weight(x)) for x in candidates]
    for _ in range(rounds):
        rows = [[x**k for k in range(degree, -1, -1)] + [(-1)**i / weight(x)]
                for i, x in enumerate(points)]
        solution = lu_solve(matrix(rows), matrix([function(x) for x in points]))
        coefficients = list(solution)[:-1]
        errors = [(w * (polyval(coefficients, x) - f), x) for x, f, w in exact]
        extrema = [errors[0]]  # the largest error of each run of one sign
        for error in errors[1:]:
            if (error[0] > 0) != (extrema[-1][0] > 0):
                extrema.append(error)
            elif abs(error[0]) > abs(extrema[-1][0]):
                extrema[-1] = error
        while len(extrema) > count:
            extrema.pop(0 if abs(extrema[0][0]) < abs(extrema[-1][0]) else -1)
        if len(extrema) < count:
            break
        points = [x for _, x in extrema]
    return coefficients, max(abs(e) for e, _ in errors)


def show(name, digits, *problem):
    coefficients, error = remez(*problem)
    print(f'{name}: error 2^{mp.nstr(log(error, 2), 4)}')
    print('  ' + ', '.join(mp.nstr(c, digits) for c in coefficients))


def quotient(numerator, denominator, limit):
    """Returns the function numerator / denominator, with the value `limit` at 0, where both are 0."""
    return lambda x: numerator(x) / denominator(x) if abs(x) > 1e-9 else mpf(limit)


FLOAT, DOUBLE = 10, 18
ln2, third = log(2), mpf(1) / 3
half_ln2 = ln2 / 2 * mpf('1.001')
root = sqrt(mpf('0.5'))

# e^r = 1 + r + r^2 p(r)
show('exp', FLOAT, quotient(lambda r: expm1(r) - r, lambda r: r * r, 0.5),
     lambda r: max(abs(r), mpf('0.05')), -half_ln2, half_ln2, 5)
# log(1 + f) = f - f^2 / 2 + f^3 p(f)
show('log', FLOAT, quotient(lambda f: log1p(f) - f + f * f / 2, lambda f: f**3, third),
     lambda f: max(f * f, mpf('0.01')), root - 1, 2 * root - 1, 7)
# tanh(x) = x + x^3 p(x^2)
show('tanh', FLOAT, quotient(lambda z: tanh(sqrt(z)) / sqrt(z) - 1, lambda z: z, -third),
     lambda z: max(z, mpf('0.02')), 0, mpf('0.65')**2, 4)
# erf(x) = x + x p(x^2)
show('erf near 0', FLOAT,
     lambda z: erf(sqrt(z)) / sqrt(z) - 1 if z else 2 / sqrt(pi) - 1,
     lambda z: mpf(1), 0, mpf('0.95')**2, 6)
# log(erfc(x)) = p(x); its error enters erf multiplied by erfc
show('erf', FLOAT, lambda x: log(erfc(x)), lambda x: erfc(x) / erf(x), '0.9', '4', 6)
# sin(r) = r + r^3 p(r^2), cos(r) = 1 - r^2 / 2 + r^4 p(r^2)
quarter = (pi / 4 * mpf('1.0001'))**2
show('sin', DOUBLE, quotient(lambda z: sin(sqrt(z)) / sqrt(z) - 1, lambda z: z, -mpf(1) / 6),
     lambda z: max(z, mpf('0.01')), 0, quarter, 3)
show('cos', DOUBLE, quotient(lambda z: cos(sqrt(z)) - 1 + z / 2, lambda z: z * z, mpf(1) / 24),
     lambda z: max(z * z, mpf('0.001')), 0, quarter, 2)
# log2((1 + s) / (1 - s)) = s p(s^2)
show('log2', DOUBLE, quotient(lambda z: log((1 + sqrt(z)) / (1 - sqrt(z)), 2) / sqrt(z),
                              lambda z: mpf(1), 2 / ln2),
     lambda z: mpf(1), 0, ((1 - root) / (1 + root))**2 * mpf('1.001'), 5)
# 2^f = p(f)
show('exp2', DOUBLE, lambda f: mpf(2)**f, lambda f: mpf(2)**-f, '-0.5005', '0.5005', 6)
