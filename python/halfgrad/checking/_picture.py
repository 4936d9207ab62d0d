"""A picture of a report, as SVG: findings, the histogram of budgets, a map of wrong elements, the worst ones."""

import itertools
import textwrap
from html import escape

WIDTH = 860
INK, PALE, GOOD, BAD, PARTLY = "#222", "#888", "#3a7d44", "#c0392b", "#e08e0b"


class _Page:
    """Shapes from the top of the picture to its end."""

    def __init__(self):
        self.parts = []

    def text(self, x, y, text, size=13, color=INK, anchor="start", weight="normal", mono=False):
        family = "monospace" if mono else "sans-serif"
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-family="{family}" font-size="{size}" fill="{color}" '
            f'text-anchor="{anchor}" font-weight="{weight}">{escape(str(text))}</text>')

    def box(self, x, y, width, height, color, title=""):
        inner = f"<title>{escape(title)}</title>" if title else ""
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
                          f'fill="{color}">{inner}</rect>')

    def svg(self, height):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:g}" '
                f'viewBox="0 0 {WIDTH} {height:g}">\n<rect width="{WIDTH}" height="{height:g}" '
                'fill="#fff" stroke="#ccc"/>\n' + "\n".join(self.parts) + "\n</svg>\n")


def _number(value):
    return f"{value:.4g}" if isinstance(value, (int, float)) else str(value)


def _title(page, report):
    good = report["passed"]
    word = "passed" if good else "FAILED" if report["findings"] else "not finished"
    if not report["checked"]:
        word = "not checked: no element was judged"
    page.text(16, 30, f"{report['op']}, {report['dtype']} → {report['output']}, accumulated in "
              f"{report['accumulate']}", size=16, weight="bold")
    page.text(WIDTH - 16, 30, word, size=16, color=GOOD if good else BAD, anchor="end", weight="bold")
    page.text(16, 50, f"{report['cases']} cases, {report['elements']} elements, "
              f"{report['unjudged']} not judged", color=PALE)


def _findings(page, report, y):
    most = 4
    for finding in report["findings"][:most]:
        y += 22
        page.text(16, y, f"{finding['fault']} in {finding['cases']} cases; first: {finding['case']}",
                  color=BAD, weight="bold")
        lines = [line for part in finding["message"].split("\n")
                 for line in textwrap.wrap(part, 105, drop_whitespace=False) or [""]]
        for line in lines[:3] + (["..."] if len(lines) > 3 else []):
            y += 16
            page.text(28, y, line, size=12, mono=True)
    return y


def _histogram(page, report, x, y):
    """Bars on a scale of powers of ten: most elements use a small part of their budget."""
    counts = report["histogram"] + [report["over_budget"]]
    page.text(x, y, "elements by the part of the budget used", weight="bold")
    floor, high, width = y + 130, 100, 30
    most = max(len(str(count)) for count in counts)
    for i, count in enumerate(counts):
        tall = high * len(str(count)) / most if count else 0
        if count:  # digits before the point, and a fraction by the first digit
            tall = high * (len(str(count)) - 1 + int(str(count)[0]) / 10) / most
        left = x + i * width
        page.box(left, floor - tall, width - 4, tall, BAD if i == 10 else GOOD,
                 title=f"{count} elements")
        page.text(left + width / 2 - 2, floor + 14, "over" if i == 10 else f".{i}", size=10,
                  color=PALE, anchor="middle")
        if count:
            page.text(left + width / 2 - 2, floor - tall - 4, count if count < 10**4 else
                      f"{count / 1000:.0f}k", size=9, color=PALE, anchor="middle")
    return floor + 20


def _map(page, places, x, y):
    shape = " x ".join(str(size) for size in places["shape"])
    page.text(x, y, f"wrong elements of {shape}", weight="bold")
    page.text(x, y + 16, f"{places['case']}", size=11, color=PALE)
    lines = places["map"]["lines"]
    width = max(len(line) for line in lines)
    cell = min(12, 440 / width, 200 / len(lines))
    for row, line in enumerate(lines):
        column = 0
        for kind, run in itertools.groupby(line):
            length = len(list(run))
            color = {".": "#e4efe6", "#": BAD, "+": PARTLY}[kind]
            page.box(x + column * cell, y + 24 + row * cell, length * cell - 0.6, cell - 0.6, color)
            column += length
    bottom = y + 24 + len(lines) * cell + 16
    if places["pattern"]:
        page.text(x, bottom, places["pattern"], color=BAD)
    return bottom


def _worst(page, places, x, y):
    page.text(x, y, "worst elements", weight="bold")
    columns = (0, 130, 260, 390, 520)
    titles = ("index", "got", "expected", "allowed error", "part of the budget")
    for place, title in zip(columns, titles):
        page.text(x + place, y + 18, title, size=11, color=PALE)
    for row, element in enumerate(places["worst"][:5]):
        index = ", ".join(str(i) for i in element["index"])
        values = [f"({index})"] + [_number(element[name])
                                   for name in ("got", "expected", "allowed", "used")]
        for place, value in zip(columns, values):
            page.text(x + place, y + 36 + 16 * row, value, size=12, mono=True)
    return y + 36 + 16 * min(5, len(places["worst"]))


def report_svg(report):
    """The picture of a report, the dictionary that KernelReport.report holds. Its text is the same on every machine."""
    page = _Page()
    _title(page, report)
    top = _findings(page, report, 56) + 34
    bottom = _histogram(page, report, 16, top)
    places = next((finding["places"] for finding in report["findings"] if "places" in finding), None)
    if places and places["map"]["lines"]:
        bottom = max(bottom, _map(page, places, 390, top))
        bottom = _worst(page, places, 16, bottom + 26)
    return page.svg(bottom + 12)
