"""Compiling and linking the files of an exercise, and what the compiler says to the student."""
import re

import running
from chapters import COURSE

LIMIT_S = 180
OPTIONS = ["-std=c++20", "-O1", "-g", "-Wall", "-Wextra", "-D_GLIBCXX_ASSERTIONS"]
SHARED = COURSE / "shared"


def needs_halfgrad(paths):
    return any("<halfgrad/" in path.read_text(encoding="utf-8", errors="replace") for path in paths if path.exists())


def first_lines(text, count):
    lines = text.strip().split("\n")
    more = f"\n... and {len(lines) - count} more lines" if len(lines) > count else ""
    return "\n".join(lines[:count]) + more


def compile_file(build, source, target, options, shown_as=None):
    """Compiles one file. Returns whether it did, and what the compiler said, with the student's name of the file."""
    outcome = running.run([build.compiler(), *OPTIONS, *options, "-c", source, "-o", target], LIMIT_S, memory=0,
                          most_output=0)
    says = outcome.output.replace(str(source), str(shown_as or source)).strip()
    if outcome.timed_out:
        says += f"\nthe compiler did not end within {LIMIT_S} s"
    return outcome.status == 0, says


def link(build, objects, program, options, libraries):
    """Links a program. Returns an empty text, or what is wrong, in words for the student."""
    sanitize = [option for option in options if str(option).startswith("-fsanitize")]
    outcome = running.run([build.compiler(), *sanitize, *objects, "-o", program, *libraries], LIMIT_S, memory=0,
                          most_output=0)
    if outcome.status == 0:
        return ""
    lacking = list(dict.fromkeys(re.findall(r"undefined reference to [`']([^`']+)'", outcome.output)))
    if lacking:
        return f"your file lacks: {'; '.join(lacking)}\nDefine it exactly as the header declares it."
    if re.search("multiple definition of [`']main'", outcome.output):
        return "your file has a main(), but the grader brings its own: remove yours"
    return "your file does not link:\n" + first_lines(outcome.output, 12)
