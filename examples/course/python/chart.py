"""Charts of the course: examples/course/shared/chart.h in Python, with the same bytes.

    chart.line_chart(chart.Chart("Loss", chart.Axis("step"), chart.Axis("loss", scale="log2")),
                     [chart.Series("fp16", steps, losses)])
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from svg import Svg, data_colour, power_of_two

_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 20, 74, 56


@dataclass
class Series:
    """One curve, or one bar for each label. A NaN or inf interrupts the curve, or leaves out the bar."""
    name: str = ""
    x: Sequence[float] = ()
    y: Sequence[float] = ()
    dashed: bool = False


@dataclass
class Band:
    """A shaded part of the chart from `start` to `to` on the x axis. In a bar chart bar i reaches from i to i + 1."""
    start: float
    to: float
    label: str = ""
    colour: str = "pale_six"


@dataclass
class Limit:
    """A dashed line across the chart, at y = `at` or, if vertical, at x = `at`."""
    at: float
    label: str = ""
    vertical: bool = False


@dataclass
class Axis:
    """`scale` is linear, log2 or log10. Ends at round values around the data unless low < high."""
    label: str = ""
    scale: str = "linear"
    low: float = 0
    high: float = 0


@dataclass
class Chart:
    title: str = ""
    x: Axis = field(default_factory=Axis)
    y: Axis = field(default_factory=Axis)
    bands: Sequence[Band] = ()
    limits: Sequence[Limit] = ()
    width: float = 760
    height: float = 360
    points: bool = False
    label_every: int = 1


def _round_step(span: float) -> float:
    """A round distance between ticks: 1, 2 or 5 times a power of ten."""
    power = math.pow(10.0, math.floor(math.log10(span / 5)))
    for factor in (1.0, 2.0, 5.0):
        if span / (factor * power) <= 6:
            return factor * power
    return 10 * power


class _Ruler:
    """One axis: from values to pixels."""

    def __init__(self, axis: Axis, values: Sequence[float]) -> None:
        self.scale = axis.scale
        kept = [value for value in values if self.holds(value)] or [1.0]
        low, high = min(kept), max(kept)
        if axis.low < axis.high:
            low, high = axis.low, axis.high
        elif self.scale == "linear":
            if low == high:
                high = low + 1
            step = _round_step(high - low)
            low, high = step * math.floor(low / step), step * math.ceil(high / step)
        else:
            base = 2.0 if self.scale == "log2" else 10.0
            low = math.pow(base, math.floor(self._place(low)))
            high = math.pow(base, math.ceil(self._place(high)))
            if low == high:
                high *= base
        self.low, self.high, self.start, self.to = low, high, 0.0, 1.0

    def holds(self, value: float) -> bool:
        return math.isfinite(value) and (self.scale == "linear" or value > 0)

    def _place(self, value: float) -> float:
        if self.scale == "linear":
            return value
        return math.log2(value) if self.scale == "log2" else math.log10(value)

    def at(self, value: float) -> float:
        share = (self._place(value) - self._place(self.low)) / (self._place(self.high) - self._place(self.low))
        return self.start + (self.to - self.start) * min(max(share, 0.0), 1.0)

    def ticks(self) -> list[float]:
        if self.scale == "linear":
            step = _round_step(self.high - self.low)
            first, i, result = math.ceil(self.low / step - 1e-9), 0, []
            while step * (first + i) <= self.high + 1e-9 * step:
                result.append(step * (first + i))
                i += 1
            return result
        first = math.ceil(self._place(self.low) - 1e-9)
        last = math.floor(self._place(self.high) + 1e-9)
        step = max(1, math.ceil((last - first) / 8))
        base = 2.0 if self.scale == "log2" else 10.0
        return [math.pow(base, power) for power in range(step * math.ceil(first / step), last + 1, step)]

    def shown(self, value: float) -> str:
        return power_of_two(round(math.log2(value))) if self.scale == "log2" else f"{value:.6g}"


class _Frame:
    """Title, bands and axes; then the caller draws the data."""

    def __init__(self, chart: Chart, x: _Ruler, y: _Ruler) -> None:
        self.svg = svg = Svg(chart.width, chart.height, chart.title)
        self.x, self.y = x, y
        x.start, x.to = _LEFT, chart.width - _RIGHT
        y.start, y.to = chart.height - _BOTTOM, _TOP
        svg.write(20, 26, chart.title, "start", 16, "ink", True)
        for band in chart.bands:
            left, right = x.at(band.start), x.at(band.to)
            svg.box(left, y.to, right - left, y.start - y.to, band.colour)
        for value in y.ticks():
            svg.line(x.start, y.at(value), x.to, y.at(value), "grid")
            svg.write(x.start - 8, y.at(value) + 4, y.shown(value), "end", 12, "soft")
        for band in chart.bands:
            self._name(band)
        svg.line(x.start, y.start, x.to, y.start, "soft")
        svg.write((x.start + x.to) / 2, chart.height - 12, chart.x.label, "middle", 13, "ink")
        svg.write(18, (y.start + y.to) / 2, chart.y.label, "middle", 13, "ink", False, -90)

    def _name(self, band: Band) -> None:
        """A box of the band's colour keeps grid lines out of the label."""
        if not band.label:
            return
        left, right = self.x.at(band.start), self.x.at(band.to)
        middle = (left + right) / 2
        width = min(right - left, 7.2 * len(band.label))
        self.svg.box(middle - width / 2, self.y.to + 3, width, 16, band.colour)
        self.svg.write(middle, self.y.to + 15, band.label, "middle", 12, "soft")

    def tick(self, at: float, label: str) -> None:
        self.svg.line(at, self.y.start, at, self.y.start + 5)
        self.svg.write(at, self.y.start + 20, label, "middle", 12, "soft")

    def limits(self, limits: Sequence[Limit]) -> None:
        svg, x, y = self.svg, self.x, self.y
        for limit in limits:
            if limit.vertical:
                svg.line(x.at(limit.at), y.start, x.at(limit.at), y.to, "four", 1.5, True)
                is_right = x.at(limit.at) > x.start + 0.8 * (x.to - x.start)
                svg.write(x.at(limit.at) + (-5 if is_right else 5), y.to + 30, limit.label,
                          "end" if is_right else "start", 12, "four")
            else:
                svg.line(x.start, y.at(limit.at), x.to, y.at(limit.at), "four", 1.5, True)
                svg.write(x.to - 4, y.at(limit.at) - 5, limit.label, "end", 12, "four")

    def legend(self, series: Sequence[Series]) -> None:
        left = float(_LEFT)
        for i, one in enumerate(series):
            if one.name:
                self.svg.line(left, 48, left + 24, 48, data_colour(i), 4, one.dashed)
                self.svg.write(left + 30, 52, one.name)
                left += 54 + 7.2 * len(one.name.encode())


def _values(series: Sequence[Series], name: str, limits: Sequence[Limit], vertical: bool) -> list[float]:
    return [value for one in series for value in getattr(one, name)] + \
        [limit.at for limit in limits if limit.vertical == vertical]


def line_chart(chart: Chart, series: Sequence[Series]) -> str:
    """Draws curves. Values at or below 0 are left out on a logarithmic axis."""
    frame = _Frame(chart, _Ruler(chart.x, _values(series, "x", chart.limits, True)),
                   _Ruler(chart.y, _values(series, "y", chart.limits, False)))
    for value in frame.x.ticks():
        frame.tick(frame.x.at(value), frame.x.shown(value))
    frame.limits(chart.limits)
    for i, one in enumerate(series):
        x: list[float] = []
        y: list[float] = []
        for a, b in [*zip(one.x, one.y), (math.nan, math.nan)]:
            if frame.y.holds(b) and frame.x.holds(a):
                x.append(frame.x.at(a))
                y.append(frame.y.at(b))
                if chart.points:
                    frame.svg.circle(x[-1], y[-1], 3, data_colour(i))
                continue
            if len(x) > 1:
                frame.svg.curve(x, y, data_colour(i), 2, one.dashed)
            x, y = [], []
    frame.legend(series)
    return str(frame.svg)


def bar_chart(chart: Chart, labels: Sequence[str], series: Sequence[Series]) -> str:
    """Draws for each label a group of bars, one bar for each series, from 0 or from a logarithmic axis's low end."""
    count = float(len(labels))
    zero = [0.0] if chart.y.scale == "linear" else []
    frame = _Frame(chart, _Ruler(Axis(low=0, high=count), []),
                   _Ruler(chart.y, _values(series, "y", chart.limits, False) + zero))
    group = (frame.x.to - frame.x.start) / count
    width = group * 0.8 / float(max(1, len(series)))
    for i, one in enumerate(series):
        for j, height in enumerate(one.y[:len(labels)]):
            if frame.y.holds(height):
                bottom = frame.y.at(0) if chart.y.scale == "linear" else frame.y.start
                end = frame.y.at(height)
                left = frame.x.start + group * (float(j) + 0.1) + width * float(i)
                frame.svg.box(left, min(bottom, end), width, abs(end - bottom), data_colour(i))
    for j, label in enumerate(labels):
        if j % max(1, chart.label_every) == 0:
            frame.tick(frame.x.start + group * (float(j) + 0.5), label)
    frame.limits(chart.limits)
    frame.legend(series)
    return str(frame.svg)
