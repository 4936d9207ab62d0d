"""Contrast as WCAG 2.1 defines it, and distances of colours as people with a colour blindness see them."""
import re

# Machado, Oliveira and Fernandes 2009, "A physiologically-based model for simulation of color vision deficiency",
# severity 1.0, for linear RGB.
VISION = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def rgb(text):
    """Returns (red, green, blue, alpha) of "rgb(0, 114, 178)"; the channels are in [0, 1]."""
    channels = [float(each) for each in re.findall(r"[\d.]+", text)]
    return (*(each / 255 for each in channels[:3]), channels[3] if len(channels) > 3 else 1.0)


def over(colour, background):
    """Returns an opaque colour: `colour` painted over an opaque background."""
    alpha = colour[3]
    return (*(alpha * c + (1 - alpha) * b for c, b in zip(colour[:3], background[:3])), 1.0)


def linear(colour):
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]


def contrast(a, b):
    """Returns the contrast ratio of two opaque colours, from 1 to 21."""
    low, high = sorted(sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear(each))) for each in (a, b))
    return (high + 0.05) / (low + 0.05)


def lab(linear_rgb):
    """Returns CIE L*a*b* under D65."""
    matrix = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = [sum(m * c for m, c in zip(row, linear_rgb)) for row in matrix]
    scaled = [max(0.0, value / white) for value, white in zip(xyz, (0.9505, 1, 1.089))]
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in scaled)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(a, b, vision):
    """Returns the CIE 1976 difference of two colours as this kind of vision sees them; 2.3 is just visible."""
    seen = [lab([sum(m * c for m, c in zip(row, linear(each))) for row in VISION[vision]]) for each in (a, b)]
    return sum((p - q) ** 2 for p, q in zip(*seen)) ** 0.5
