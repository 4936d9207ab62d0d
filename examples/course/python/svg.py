"""Pictures as SVG text: examples/course/shared/svg.h in Python, with the same bytes.

Colours are names (ink, soft, grid, paper, one to six, pale_one to pale_six) that the style sheet, which is read from
svg.cpp, turns into colours for light and for dark pages.
"""

import math
import pathlib
import re
from collections.abc import Sequence

_SOURCE = pathlib.Path(__file__).resolve().parent.parent / "shared" / "svg.cpp"
STYLE = "".join(re.findall(r'R"\((.*?)\)"', _SOURCE.read_text(encoding="utf-8"), re.DOTALL))
DATA_COLOURS = ("one", "two", "three", "four", "five", "six")


def data_colour(i: int) -> str:
    return DATA_COLOURS[i % 6]


def power_of_two(exponent: int) -> str:
    """2 with a raised exponent."""
    sign = "\u2212" if exponent < 0 else ""
    return f'2<tspan baseline-shift="super" font-size="75%">{sign}{abs(exponent)}</tspan>'


def _number(x: float) -> str:
    shown = f"{x + 0.0:.2f}".rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown


def _paint(name: str, colour: str) -> str:
    return f"{name}:none" if colour == "none" else f"{name}:var(--{colour})"


def _stroke(stroke: str, width: float, dashed: bool) -> str:
    return f"{_paint('stroke', stroke)};stroke-width:{_number(width)}" + (";stroke-dasharray:6 4" if dashed else "")


def _escaped(words: str) -> str:
    parts = re.split(r"(</?tspan[^>]*>)", words)
    return "".join(part if i % 2 else part.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
                   for i, part in enumerate(parts))


class Svg:
    """A picture of this size in pixels. Screen readers read `title`."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self._text = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_number(width)} {_number(height)}" '
                      f'width="{_number(width)}" role="img">\n<title>{_escaped(title)}</title>\n{STYLE}')
        self.box(0, 0, width, height, "paper")

    def box(self, x: float, y: float, width: float, height: float, fill: str, stroke: str = "none",
            radius: float = 0) -> None:
        self._text += (f'<rect x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}" '
                       f'rx="{_number(radius)}" style="{_paint("fill", fill)};{_paint("stroke", stroke)}"/>\n')

    def line(self, x1: float, y1: float, x2: float, y2: float, stroke: str = "soft", width: float = 1,
             dashed: bool = False) -> None:
        self._text += (f'<line x1="{_number(x1)}" y1="{_number(y1)}" x2="{_number(x2)}" y2="{_number(y2)}" '
                       f'style="{_stroke(stroke, width, dashed)}"/>\n')

    def arrow(self, x1: float, y1: float, x2: float, y2: float) -> None:
        self.line(x1, y1, x2, y2, "soft", 1.5)
        length = math.sqrt((x2 - x1) * (x2 - x1) + (y2 - y1) * (y2 - y1))
        if length == 0:
            return
        dx, dy = (x2 - x1) / length, (y2 - y1) / length
        left = f"{_number(x2 - 8 * dx - 4 * dy)} {_number(y2 - 8 * dy + 4 * dx)}"
        right = f"{_number(x2 - 8 * dx + 4 * dy)} {_number(y2 - 8 * dy - 4 * dx)}"
        self._text += f'<path d="M{_number(x2)} {_number(y2)}L{left}L{right}z" style="{_paint("fill", "soft")}"/>\n'

    def circle(self, x: float, y: float, radius: float, fill: str) -> None:
        self._text += (f'<circle cx="{_number(x)}" cy="{_number(y)}" r="{_number(radius)}" '
                       f'style="{_paint("fill", fill)}"/>\n')

    def curve(self, x: Sequence[float], y: Sequence[float], stroke: str, width: float = 2,
              dashed: bool = False) -> None:
        """Joins the points (x[i], y[i])."""
        points = " ".join(f"{_number(a)},{_number(b)}" for a, b in zip(x, y))
        self._text += (f'<polyline points="{points}" style="fill:none;{_stroke(stroke, width, dashed)};'
                       'stroke-linejoin:round"/>\n')

    def write(self, x: float, y: float, words: str, anchor: str = "start", size: float = 13, fill: str = "ink",
              bold: bool = False, turn: float = 0) -> None:
        """Writes words with their base line at y. `turn` turns them by degrees around (x, y)."""
        weight = ' font-weight="bold"' if bold else ""
        turned = f' transform="rotate({_number(turn)} {_number(x)} {_number(y)})"' if turn else ""
        self._text += (f'<text x="{_number(x)}" y="{_number(y)}" font-size="{_number(size)}" text-anchor="{anchor}"'
                       f'{weight}{turned} style="{_paint("fill", fill)}">{_escaped(words)}</text>\n')

    def __str__(self) -> str:
        return self._text + "</svg>\n"
