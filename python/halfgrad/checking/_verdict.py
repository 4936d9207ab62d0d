"""What a check found."""

import dataclasses
import json

from .._halfgrad import _checking as checking
from ._picture import report_svg


@dataclasses.dataclass(frozen=True)
class Finding:
    """One kind of fault: its first case, how many cases have it, and where its wrong elements lie."""

    fault: str
    message: str
    case: str
    cases: int
    places: dict = None

    @property
    def pattern(self):
        """Where all wrong elements lie, such as "columns 16 and above"; "" if that has no name."""
        return self.places["pattern"] if self.places else ""


class Verdict:
    """The result of halfgrad.check() and Case.judge(). It is true if the kernel passed."""

    def __init__(self, report):
        self._report = report
        self._json = report.json()
        self.report = json.loads(self._json)
        self.findings = [Finding(**finding) for finding in self.report["findings"]]

    @property
    def passed(self):
        """True if no fault was found, at least one element was judged, and no case is missing."""
        return self._report.passed

    def __bool__(self):
        return self.passed

    def __repr__(self):
        return self._report.text().rstrip()

    def _repr_html_(self):
        return report_svg(self.report)

    def to_json(self):
        """The report as JSON. docs/kernel_check.md describes its members."""
        return self._json

    def assert_ok(self):
        """Raises AssertionError with the report if the kernel did not pass."""
        __tracebackhide__ = True
        if not self.passed:
            raise AssertionError(repr(self))

    def save_case(self, path):
        """Writes the smallest failing case to a .safetensors file, which halfgrad-check --values reads.

        Raises ValueError if there is none.
        """
        self._report.save_case(str(path))


def write_junit(path, verdicts):
    """Writes a JUnit document with a test case for each verdict."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(checking.to_junit([verdict._report for verdict in verdicts]))
