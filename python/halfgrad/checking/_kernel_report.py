"""What a check found."""

import dataclasses
import json
from xml.etree import ElementTree

from .._halfgrad import _checking as checking
from ._picture import report_svg


@dataclasses.dataclass(frozen=True)
class Finding:
    """One kind of fault: its first case, how many cases have it, and where its wrong elements lie."""

    fault: str
    message: str
    case: str
    cases: int
    places: dict | None = None

    @property
    def pattern(self):
        """Where all wrong elements lie, such as "columns 16 and above"; "" if that has no name."""
        return self.places["pattern"] if self.places else ""


class KernelReport:
    """The result of halfgrad.check() and Case.judge(). It is true if the kernel passed."""

    def __init__(self, passed, text, document, junit, op):
        self.passed = passed  #: no fault was found, an element was judged, and no case is missing
        self.report = json.loads(document)
        self._op = op
        self._text, self._json, self._junit = text.rstrip(), document, junit
        self.findings = [Finding(**finding) for finding in self.report["findings"]]

    def __bool__(self):
        return self.passed

    def __repr__(self):
        return self._text

    def _repr_html_(self):
        return report_svg(self.report)

    def add(self, member, value):
        """Adds a member to the JSON report."""
        self.report[member] = value
        self._json = json.dumps(self.report, indent=1)

    def to_json(self):
        """The report as JSON. docs/kernel_check.md describes its members."""
        return self._json

    def assert_ok(self):
        """Raises AssertionError with the report if the kernel did not pass."""
        __tracebackhide__ = True
        if not self.passed:
            raise AssertionError(repr(self))

    def save_case(self, path):
        """Writes the smallest failing case to a .safetensors file.

        It has input0, input1, ..., and for each output `expected` and `allowed`, the budget. For an op
        with a name halfgrad-check --values reads it; a formula is not in the file. Raises ValueError
        if there is no failing case.
        """
        if "smallest_case" not in self.report:
            raise ValueError("save_case: expected a smallest failing case, got none")
        checking.save_smallest(str(path), self.report, self._op)


def write_junit(path, reports):
    """Writes a JUnit document with a test case for each report."""
    suites = [ElementTree.fromstring(checked._junit) for checked in reports]
    suite = ElementTree.Element("testsuite", name="halfgrad-check")
    for count in ("tests", "failures", "errors"):
        suite.set(count, str(sum(int(one.get(count)) for one in suites)))
    for one in suites:
        suite.extend(one)
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)
