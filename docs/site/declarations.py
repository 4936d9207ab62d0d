"""Declarations as a header writes them, found by the line that Doxygen gives."""

import re

_COMMENT = re.compile(r"\s*//.*$")
# A line after which a declaration begins.
_ENDS = re.compile(r"[;{}:>]\s*$")


class Header:
    """The lines of a header. Lines count from 1."""

    def __init__(self, path):
        self.lines = [""] + path.read_text(encoding="utf-8").splitlines()

    def first_line(self, line):
        """The line in which the declaration that has its name on `line` begins."""
        while line > 1 and self._continues(line - 1):
            line -= 1
        return line

    def _continues(self, line):
        """True if `line` belongs to the declaration that goes on below it."""
        text = self.lines[line]
        code = _COMMENT.sub("", text).strip()
        if code.startswith(("template", "requires")):
            return True
        return bool(code) and not code.startswith("#") and not _ENDS.search(code)

    def declaration(self, line):
        """(first line, last line, text): the text up to its `;` or its body, without comments."""
        first = last = self.first_line(line)
        text, depth = "", 0
        while last < len(self.lines):
            code = _COMMENT.sub("", self.lines[last])
            for i, character in enumerate(code):
                if character in "([":
                    depth += 1
                elif character in ")]":
                    depth -= 1
                elif depth == 0 and self._ends(text + code[:i], code, i):
                    return first, self._end_of_body(last, i), _dedented(text + code[:i]) + ";"
            text += code + "\n"
            last += 1
        return first, last - 1, _dedented(text)

    @staticmethod
    def _ends(before, code, i):
        """True at `;`, at the `{` of a body, and at the `:` of a list of initialisers."""
        if code[i] == ";":
            return True
        if code[i] == "{":
            return not re.search(r"[=,]\s*(\w+)?\s*$|\breturn\s*$", before)
        return (code[i] == ":" and before.rstrip().endswith((")", "noexcept")) and
                code[i + 1:i + 2] != ":")

    def _end_of_body(self, line, column):
        """The line with the brace that closes the body which begins at (line, column)."""
        depth, seen = 0, False
        for number in range(line, len(self.lines)):
            code = _COMMENT.sub("", self.lines[number])
            for character in code[column if number == line else 0:]:
                if character == "{":
                    depth, seen = depth + 1, True
                elif character == "}":
                    depth -= 1
                if depth == 0 and (seen or character == ";") and character in "};":
                    return number
        return line

    def with_comments(self, first, last):
        """The lines as they stand; comments for Doxygen become plain ones."""
        text = "\n".join(self.lines[first:last + 1])
        return _dedented(re.sub(r"///<?", "//", text))


def _dedented(text):
    lines = [line.rstrip() for line in text.rstrip().split("\n")]
    indent = min((len(line) - len(line.lstrip()) for line in lines if line), default=0)
    return "\n".join(line[indent:] for line in lines)
