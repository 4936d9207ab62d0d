"""Runs a chapter's programs and reads the facts that they print."""
import os
import pathlib
import re
import subprocess
import sys

import running
from chapters import COURSE, LessonError, ROOT

FACT = re.compile(r"^([a-z0-9_]+) = (\S.*)$", re.MULTILINE)
LIMIT_S = 120  # programs are meant to take 5 s; a loaded machine takes longer


def read(output):
    """The facts of a program's output, as text."""
    return dict(FACT.findall(output))


def run(command, what):
    """Output of a chapter's program, which must end with status 0."""
    outcome = running.run(command, LIMIT_S, {"COLUMNS": "80", "PYTHONDONTWRITEBYTECODE": "1"}, memory=0,
                          most_output=0)
    if outcome.timed_out:
        raise LessonError(f"{what}: expected an end within {LIMIT_S} s, got none", 1)
    if outcome.status:
        tail = "\n".join(outcome.output.rstrip().split("\n")[-12:])
        raise LessonError(f"{what}: expected status 0, got {outcome.status} and\n{tail}", 1)
    return outcome.output


def run_program(chapter, build, *options):
    return run([build.program(chapter), *options], f"course_{chapter.slug}")


def interpreter():
    """The Python that has halfgrad: $LESSON_PYTHON, this one, or None."""
    for python in [os.environ.get("LESSON_PYTHON"), sys.executable, ROOT / "build/python-venv/bin/python"]:
        if python and pathlib.Path(python).exists():
            python = pathlib.Path(python).absolute()  # it runs in another folder; a link into an environment stays one
            found = subprocess.run([str(python), "-c", "import halfgrad"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, cwd=COURSE, check=False)
            if found.returncode == 0:
                return str(python)
    return None


def run_python(chapter, python, *options):
    return run([python, chapter.python, *options], chapter.python.name)
