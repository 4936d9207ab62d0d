"""Programs with planted bugs, which come from one source.

    dx[i] = dy[i] * y[i];
    // bug forgets_dy: dx[i] = y[i];
    // why forgets_dy: The chain rule multiplies by the gradient of the output.

The bug replaces the line above the comments. Further `// bug` lines of the same name below it add lines; one without
code after the colon removes the line.
"""
import re

from chapters import LessonError

BUG = re.compile(r"^(\s*)// bug ([a-z0-9_]+): ?(.*)$")
WHY = re.compile(r"^\s*// why ([a-z0-9_]+): (.*)$")


class Source:
    """A source with its planted bugs: the right text, one wrong text for each bug, and the guilty lines."""

    def __init__(self, path):
        if not path.exists():
            raise LessonError(f"this chapter has none: expected {path}")
        self.path = path
        self.right = []
        self.why = {}
        self._planted = {}  # name: [(index of the replaced line, [lines])]
        last = None
        for number, line in enumerate(path.read_text(encoding="utf-8").rstrip("\n").split("\n"), 1):
            bug, why = BUG.match(line), WHY.match(line)
            if bug:
                if not self.right:
                    raise LessonError(f"{path}:{number}: expected a line of code above the bug")
                places = self._planted.setdefault(bug[2], [])
                if last != (bug[2], len(self.right)):
                    places.append((len(self.right) - 1, []))
                if bug[3].strip():
                    places[-1][1].append(bug[1] + bug[3])
                last = (bug[2], len(self.right))
            elif why:
                self.why[why[1]] = f"{self.why[why[1]]} {why[2]}" if why[1] in self.why else why[2]
            else:
                self.right.append(line)
        unknown = self.why.keys() - self._planted.keys()
        if unknown:
            raise LessonError(f"{path}: `why {min(unknown)}` has no bug of this name")

    @property
    def names(self):
        return list(self._planted)

    def text(self, name=None):
        """The source with one bug, or the right one."""
        return "\n".join(self._lines(name)[0]) + "\n"

    def guilty_lines(self, name):
        """Numbers of the wrong lines, counted from 1; where a line was removed, those of its neighbours."""
        return self._lines(name)[1]

    def _lines(self, name):
        lines, guilty = [], []
        places = dict(self._planted.get(name, []))
        for index, line in enumerate(self.right):
            wrong = places.get(index)
            if wrong is None:
                lines.append(line)
                continue
            guilty += range(len(lines) + 1, len(lines) + len(wrong) + 1) if wrong else [len(lines), len(lines) + 1]
            lines += wrong
        return lines, guilty
