"""Compiles a student's file with the chapter's grader, runs it, and explains the result."""
import pathlib
import re
import shutil
import tempfile

import running
import starter
from chapters import COURSE, LessonError

LIMIT_S = 10
COMPILE_LIMIT_S = 180
OPTIONS = ["-std=c++20", "-O1", "-g", "-Wall", "-Wextra", "-D_GLIBCXX_ASSERTIONS"]


class Check:
    """One check of a grader: its name, whether it passed, and what it said."""

    def __init__(self, name):
        self.name = name
        self.passed = None
        self.lines = []


class Result:
    """Checks of a run, and why the run ended early, if it did."""

    def __init__(self):
        self.checks = []
        self.problem = ""  # the student's file does not compile, hangs, crashes, ...
        self.output = ""

    @property
    def passed(self):
        return not self.problem and bool(self.checks) and all(check.passed for check in self.checks)


def _needs_halfgrad(*files):
    return any("<halfgrad/" in path.read_text(encoding="utf-8", errors="replace") for path in files if path.exists())


def _compile(build, source, target, options, shown_as):
    """Compiles one file; returns what the compiler says, with the student's name of the file."""
    command = [build.compiler(), *OPTIONS, *options, "-c", source, "-o", target]
    outcome = running.run(command, COMPILE_LIMIT_S, memory=0, most_output=0)
    says = outcome.output.replace(str(source), str(shown_as)).strip()
    if outcome.timed_out:
        says += f"\nthe compiler did not end within {COMPILE_LIMIT_S} s"
    return outcome.status == 0, says


def _first_lines(text, count):
    lines = text.strip().split("\n")
    more = f"\n... and {len(lines) - count} more lines" if len(lines) > count else ""
    return "\n".join(lines[:count]) + more


def _undefined(says):
    """The functions that the grader calls and the student's file lacks."""
    names = re.findall(r"undefined reference to [`']([^`']+)'", says)
    return list(dict.fromkeys(names))


def build_grader(chapter, build, source, folder, shown_as):
    """Compiles and links; returns (program, "") or (None, why)."""
    settings = chapter.settings()
    grader = chapter.folder / "grade.cpp"
    if not grader.exists():
        raise LessonError(f"chapter {chapter.number} has no grader: expected {grader}")
    headers = sorted(chapter.folder.glob("*.h"))
    options, libraries = build.flags(_needs_halfgrad(source, grader, *headers))
    options = options + settings.get("options", [])
    libraries = [str(build.folder / name) for name in settings.get("libraries", [])] + libraries
    # The student's file is compiled from a copy, so that it includes the course's headers.
    objects = []
    if source.suffix == ".cpp":
        copy = folder / source.name
        shutil.copy(source, copy)
        for header in headers:
            shutil.copy(header, folder / header.name)
        compiled, says = _compile(build, copy, folder / "exercise.o", options, shown_as)
        if not compiled:
            return None, "your file does not compile:\n" + _first_lines(says, 20)
        if says:
            print("The compiler warns:\n" + _first_lines(says, 12) + "\n")
        objects.append(folder / "exercise.o")
    compiled, says = _compile(build, grader, folder / "grade.o",
                              ["-I", COURSE / "shared", "-I", chapter.folder, *options], grader)
    if not compiled:
        raise LessonError(f"the grader itself does not compile, which is not your fault:\n{_first_lines(says, 20)}", 3)
    program = folder / "grade"
    command = [build.compiler(), *objects, folder / "grade.o", "-o", program, *libraries,
               *[option for option in options if str(option).startswith("-fsanitize")]]
    outcome = running.run(command, COMPILE_LIMIT_S, memory=0, most_output=0)
    if outcome.status:
        undefined = _undefined(outcome.output)
        if undefined:
            return None, "your file lacks: " + "; ".join(undefined) + "\nDeclare it exactly as exercise.h does."
        if "multiple definition of `main'" in outcome.output:
            return None, "your file has a main(); the grader brings its own. Remove yours."
        return None, "your file does not link:\n" + _first_lines(outcome.output, 12)
    return program, ""


def _read(result, path):
    """Reads the lines that the grader wrote; returns (done, crash input or None)."""
    done, crash = False, None
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n") if path.exists() else []:
        kind, _, text = line.partition("\t")
        if kind == "check":
            if result.checks and result.checks[-1].passed is None:
                result.checks.pop()  # a group of checks, not one
            result.checks.append(Check(text))
        elif kind in ("pass", "fail") and result.checks:
            result.checks[-1].passed = kind == "pass"
        elif kind == "say" and result.checks:
            result.checks[-1].lines.append(text)
        elif kind == "crash":
            crash = text
        elif kind == "done":
            done = True
    return done, crash


REASONS = {"SIGSEGV": "reads or writes memory that is not its own (SIGSEGV): an index out of range, a null pointer, "
                      "or endless recursion",
           "SIGFPE": "divides an integer by zero (SIGFPE)",
           "SIGABRT": "aborts (SIGABRT): a failed assertion, an index out of range of a vector, or memory freed twice",
           "SIGXFSZ": f"prints more than {running.MOST_OUTPUT >> 20} MiB: is there a print in an endless loop?",
           "SIGKILL": "was killed (SIGKILL), perhaps because it used too much memory"}


def grade(chapter, build, source, seed=0, shown_as=None, limit_s=None):
    """Grades the student's file and returns the Result."""
    result = Result()
    limit_s = limit_s or chapter.settings().get("limit_s", LIMIT_S)
    if not source.exists():
        raise LessonError(f"expected your file {source}; `tools/lesson start {chapter.number}` writes it")
    with tempfile.TemporaryDirectory(prefix="lesson-") as name:
        folder = pathlib.Path(name)
        program, result.problem = build_grader(chapter, build, source, folder, shown_as or source)
        if program is None:
            return result
        prefix = [build.folder / part if i == 0 else part
                  for i, part in enumerate(chapter.settings().get("run_with", []))]
        path = folder / "result"
        outcome = running.run([*prefix, program, "--result", path, "--seed", seed], limit_s,
                              {"LESSON_FILE": str(source), "LESSON_BUILD": str(build.folder)},
                              memory=0 if prefix or build.description.get("sanitize") else running.MOST_MEMORY,
                              folder=folder)
        result.output = outcome.output
        done, crash = _read(result, path)
    at = f" in the check \"{result.checks[-1].name}\"" if result.checks else ""
    on = f", for the input {crash}" if crash else ""
    if outcome.timed_out:
        result.problem = f"your code did not end within {limit_s} s{at}: is there an endless loop?"
    elif not done and outcome.signal:
        result.problem = f"your code {REASONS.get(outcome.signal, 'was ended by ' + outcome.signal)}{at}{on}"
    elif not done:
        result.problem = (f"your code ended the program{at} with status {outcome.status} before the grader finished. "
                          "Remove exit() and the like.")
    if result.checks and result.checks[-1].passed is None:
        result.checks[-1].passed = False
    return result


def report(chapter, result, shown_as):
    """Prints the result; returns 0 if all passed, else 1."""
    for check in result.checks:
        print(f"{'pass' if check.passed else 'FAIL'}  {check.name}")
        for line in check.lines:
            print(f"        {line}")
    if result.output.strip():
        print("Your code printed:\n" + _first_lines(result.output, 10))
    if result.problem:
        print(f"FAIL  {result.problem}")
    passed = sum(1 for check in result.checks if check.passed)
    if result.passed:
        print(f"PASSED: chapter {chapter.number}, {passed} checks.")
        return 0
    print(f"NOT YET: {shown_as}, {passed} of {len(result.checks)} checks passed." if result.checks
          else f"NOT YET: {shown_as}.")
    return 1


def grade_own(chapter, build, which):
    """For CI: the blank must compile, end, and fail; the solution must pass."""
    blank, solution = starter.split(chapter)
    with tempfile.TemporaryDirectory(prefix="lesson-") as name:
        source = pathlib.Path(name) / chapter.source.name
        source.write_text(blank if which == "blank" else solution, encoding="utf-8")
        result = grade(chapter, build, source, shown_as=f"the {which} of {chapter.source}")
    if which == "solution":
        return report(chapter, result, "the solution")
    if result.problem or not result.checks or result.passed:
        report(chapter, result, "the blank")
        print(f"FAIL  the blank of chapter {chapter.number}: expected one that compiles, ends, and fails a check")
        return 1
    failed = sum(1 for check in result.checks if not check.passed)
    print(f"The blank of chapter {chapter.number} compiles and fails {failed} of {len(result.checks)} checks.")
    return 0
