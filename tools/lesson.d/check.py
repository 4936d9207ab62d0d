"""Compares a chapter's text and pictures with what its programs print and draw."""
import math
import pathlib
import tempfile

import facts
import quotes
import running
from chapters import LessonError, ROOT, TEXTS

# Python's package is compiled for any processor, programs for this one: their roundings may differ.
AGREEMENT = 1e-4


def same(one, other):
    """Whether a fact of C++ and one of Python agree: words exactly, values to four digits."""
    try:
        a, b = float(one), float(other)
    except ValueError:
        return one == other
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    if a == b:
        return True
    return not (a.is_integer() and b.is_integer() and abs(a) < 1e6) and math.isclose(a, b, rel_tol=AGREEMENT)


def check_pictures(chapter, build, problems):
    """Draws the pictures again: each file of docs/course/images must have the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        output = facts.run_program(chapter, build, "--pictures", folder)
        drawn = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}
    kept = {path.name: path for path in (TEXTS / "images").glob(f"{chapter.slug}-*.svg")}
    again = f"draw it again: build/cpu/bin/course_{chapter.slug} --pictures docs/course/images"
    for name in sorted(drawn.keys() | kept.keys()):
        if name not in kept:
            problems.append(f"docs/course/images/{name} is missing; {again}")
        elif name not in drawn:
            problems.append(f"docs/course/images/{name}: the program draws no such picture; remove the file")
        elif drawn[name] != kept[name].read_bytes():
            problems.append(f"docs/course/images/{name} differs from what the program draws; {again}")
        if chapter.text.exists() and name not in chapter.text.read_text(encoding="utf-8"):
            problems.append(f"{chapter.text.relative_to(ROOT)}: expected the picture images/{name} in the text")
    return output


def check_options(command, name, problems):
    """A program explains its options with --help, and refuses others with status 2."""
    helped = running.run([*command, "--help"], 60, memory=0)
    if helped.status or "--pictures" not in helped.output:
        problems.append(f"{name} --help: expected status 0 and the option --pictures, got {helped.status}")
    refused = running.run([*command, "--no-such-option"], 60, memory=0)
    if refused.status != 2:
        problems.append(f"{name} --no-such-option: expected status 2, got {refused.status}")


def check_python(chapter, printed, problems):
    """Compares the facts of the Python program with those of the C++ program (None: with the text alone)."""
    if not chapter.python.exists():
        problems.append(f"expected the program {chapter.python.relative_to(ROOT)}")
        return {}
    python = facts.interpreter()
    if python is None:
        print(f"SKIPPED: no Python with the package halfgrad, so {chapter.python.name} was not run. "
              "tools/test-python installs it; LESSON_PYTHON names another interpreter.")
        return {}
    check_options([python, chapter.python], chapter.python.name, problems)
    with tempfile.TemporaryDirectory() as folder:
        found = facts.read(facts.run_python(chapter, python, "--pictures", folder))
        for path in sorted(pathlib.Path(folder).iterdir()):
            kept = TEXTS / "images" / path.name
            if not kept.exists() or kept.read_bytes() != path.read_bytes():
                problems.append(f"docs/course/images/{path.name} differs from what {chapter.python.name} draws")
    if not found:
        problems.append(f"{chapter.python.name}: expected at least one fact, got none")
    for name, value in found.items():
        if printed is not None and name not in printed:
            problems.append(f"{chapter.python.name} prints {name} = {value}, which the C++ program does not print")
        elif printed is not None and not same(printed[name], value):
            problems.append(f"{name}: the C++ program prints {printed[name]}, Python {value}")
    return found


def check(chapter, build, language):
    """Returns 0, or 1 after a line for each problem. `language` is "both", "c++" or "python"."""
    problems = []
    if not chapter.text.exists():
        raise LessonError(f"expected the text {chapter.text.relative_to(ROOT)}", 1)
    text = chapter.text.read_text(encoding="utf-8")
    name = str(chapter.text.relative_to(ROOT))
    if language == "python":
        found = check_python(chapter, None, problems)
        quoted = {quote["fact"] for quote in quotes.QUOTE.finditer(text)}
        for fact in sorted(quoted & found.keys()):
            only = {other: value for other, value in found.items() if other == fact}
            problems += [line for line in quotes.problems(text, only, name) if f"the program {fact} =" in line]
    else:
        check_options([build.program(chapter)], f"course_{chapter.slug}", problems)
        output = check_pictures(chapter, build, problems)
        printed = facts.read(output)
        problems += quotes.problems(text, printed, name)
        problems += quotes.output_problems(text, f"course_{chapter.slug}", output, name)
        if language == "both":
            check_python(chapter, printed, problems)
        print(f"chapter {chapter.number}: {len(printed)} facts, "
              f"{sum(1 for _ in quotes.QUOTE.finditer(text))} numbers quoted")
    for line in problems:
        print(line)
    return 1 if problems else 0
