"""Options, facts and pictures of every chapter's program: examples/course/shared/course.h in Python.

A chapter with the slug 02_rounding is examples/course/python/02_rounding.py:

    import course
    import halfgrad as hg

    def main(chapter: course.Chapter) -> None:
        for step in range(chapter.steps):
            ...
        print("fp16 stops at 2048.")
        chapter.fact("stall_fp16", 2048)

    if __name__ == "__main__":
        course.run(main, "02_rounding", "Adds ones.", steps=60)

Facts must equal those of the C++ program; `tools/lesson check 2` compares. Charts are drawn by
chart.py, which has the functions of chart.h.
"""

import argparse
import pathlib
import re
import sys
from collections.abc import Callable

import halfgrad as hg


class Chapter:
    """Options and facts of a program. `steps` is the value of --steps."""

    def __init__(self, slug: str, does: str, steps: int = 0) -> None:
        parser = argparse.ArgumentParser(prog=f"{slug}.py", description=does)
        if steps:
            parser.add_argument("--steps", type=int, default=steps,
                                help="length of each training; the text quotes the default, %(default)s")
        parser.add_argument("--pictures", type=pathlib.Path,
                            help="folder to write the chapter's pictures to, as SVG")
        arguments = parser.parse_args()
        hg.backends.cpu.allow_amx = False  # facts are the same on every machine
        self.slug = slug
        self.steps: int = arguments.steps if steps else 0
        self._pictures: pathlib.Path | None = arguments.pictures
        self._facts: set[str] = set()
        if self.steps < 0 or steps and self.steps < 1:
            parser.error(f"--steps: expected at least 1, got {self.steps}")
        if self._pictures and not self._pictures.is_dir():
            parser.error(f"--pictures: expected a folder, got {self._pictures}")

    def fact(self, name: str, value: float | str) -> None:
        """Prints `name = value`, with as many digits as tell the value from its neighbours."""
        if not re.fullmatch("[a-z0-9_]+", name):
            raise ValueError(f"fact: expected a name of a-z, 0-9 and _, got {name}")
        if name in self._facts:
            raise ValueError(f"fact: expected each name once, got a second {name}")
        self._facts.add(name)
        print(f"{name} = {value if isinstance(value, str) else shown(value)}")

    def picture(self, name: str, svg: str) -> None:
        """Writes the SVG to DIR/SLUG-NAME.svg if --pictures DIR was given."""
        if self._pictures:
            path = self._pictures / f"{self.slug}-{name}.svg"
            path.write_text(svg, encoding="utf-8", newline="\n")
            print(f"wrote {path}")


def shown(value: float) -> str:
    """The shortest text that reads back as the same number: 2048 and not 2048.0."""
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def run(main: Callable[[Chapter], None], slug: str, does: str, steps: int = 0) -> None:
    """Runs a chapter's `main` with the options of the command line. An error is one line, status 1."""
    chapter = Chapter(slug, does, steps)
    try:
        main(chapter)
        sys.stdout.flush()
    except (ValueError, RuntimeError, OSError) as error:
        sys.exit(f"{slug}.py: {error}")
