"""Compiles a student's file with the chapter's grader, runs it, and explains the result."""
import pathlib
import shutil
import tempfile

import compiling
import running
import starter
from chapters import LessonError
from compiling import first_lines

LIMIT_S = 10
SKIPPED = 77  # status that ctest reads as "skipped"


class Check:
    """One check of a grader: its name, whether it passed, and what it said."""

    def __init__(self, name):
        self.name = name
        self.passed = None
        self.lines = []


class Result:
    """Checks of a run, and why the run ended early, if it did."""

    def __init__(self, problem=""):
        self.checks = []
        self.problem = problem  # the student's file does not compile, hangs, crashes, ...
        self.output = ""

    @property
    def passed(self):
        return not self.problem and bool(self.checks) and all(check.passed for check in self.checks)


REASONS = {"SIGSEGV": "reads or writes memory that is not its own (SIGSEGV): an index out of range, a null pointer, "
                      "or endless recursion",
           "SIGFPE": "divides an integer by zero (SIGFPE)",
           "SIGABRT": "aborts (SIGABRT): a failed assertion, a vector's index out of range, or memory freed twice",
           "SIGXFSZ": f"prints more than {running.MOST_OUTPUT >> 20} MiB: is there a print in an endless loop?",
           "SIGKILL": "was killed (SIGKILL), perhaps because it used too much memory"}


def why_it_ended(outcome, limit_s, where=""):
    """What ended a program early, in words for the student."""
    if outcome.timed_out:
        return f"{where}your code did not end within {limit_s} s: is there an endless loop?"
    if outcome.signal:
        return f"{where}your code {REASONS.get(outcome.signal, 'was ended by ' + outcome.signal)}"
    return (f"{where}your code ended the program with status {outcome.status} before the grader finished: remove "
            "exit() and the like")


_compiled = {}  # objects of the course's own files, which blank and solution share


def build_program(build, source, shown_as, folder, others, headers, settings, filled=lambda text: text):
    """Compiles the student's file and `others`, and links them. Returns (program, "") or (None, what is wrong).

    All are compiled with the course's headers, `filled` with the student's variant, and not with a changed header of
    the student's.
    """
    options, libraries = build.flags(compiling.needs_halfgrad([source, *others, *headers]))
    options = options + settings.get("options", [])
    libraries = [str(build.folder / name) for name in settings.get("libraries", [])] + libraries
    objects = []
    for path in headers:
        (folder / path.name).write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
    if source.suffix == ".cpp":
        shutil.copy(source, folder / source.name)
        objects.append(folder / "student.o")
        compiled, says = compiling.compile_file(build, folder / source.name, objects[-1], options, shown_as)
        if not compiled:
            return None, "your file does not compile:\n" + first_lines(says, 20)
        if says:
            print("The compiler warns:\n" + first_lines(says.replace(str(folder), "."), 12) + "\n")
    for i, other in enumerate(others):
        objects.append(folder / f"course_{i}.o")
        copy = folder / f"course_{i}.cpp"
        copy.write_text(filled(other.read_text(encoding="utf-8")), encoding="utf-8")
        key = (*options, *((folder / path.name).read_text(encoding="utf-8") for path in [copy, *headers]))
        if key not in _compiled:
            compiled, says = compiling.compile_file(build, copy, objects[-1], ["-I", compiling.SHARED, *options],
                                                    other)
            if not compiled:
                raise LessonError(f"{other.name} of the course does not compile, which is not your fault:\n"
                                  f"{first_lines(says, 20)}", 3)
            _compiled[key] = objects[-1].read_bytes()
        objects[-1].write_bytes(_compiled[key])
    problem = compiling.link(build, objects, folder / "graded", options, libraries)
    return (None, problem) if problem else (folder / "graded", "")


def read_result(result, path):
    """Reads the lines that the grader wrote (grade_text.h); returns (done, the input of a crash)."""
    done, crash = False, ""
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


def grade(chapter, build, source, student, shown_as=None, limit_s=None):
    """Grades the student's file and returns the Result."""
    settings = chapter.settings()
    limit_s = limit_s or settings.get("limit_s", LIMIT_S)
    grader = chapter.folder / "grade.cpp"
    if not grader.exists():
        raise LessonError(f"chapter {chapter.number} has no grader: expected {grader}")
    if not source.exists():
        raise LessonError(f"expected your file {source}; `tools/lesson start {chapter.number}` writes it")
    build.require(settings)
    with tempfile.TemporaryDirectory(prefix="lesson-") as name:
        folder = pathlib.Path(name)
        program, problem = build_program(build, source, shown_as or source, folder, [grader],
                                         sorted(chapter.folder.glob("*.h")), settings,
                                         lambda text: student.filled(text, chapter))
        if program is None:
            return Result(problem)
        result = Result()
        prefix = settings.get("run_with", [])
        if prefix:
            prefix = [build.folder / prefix[0], *prefix[1:]]
        options = ["--result", folder / "result", "--seed", student.seed,
                   "--variant", student.variant(settings.get("variants", []))]
        sanitized = any(build.description.get("sanitize", []))
        outcome = running.run([*prefix, program, *options], limit_s,
                              {"LESSON_FILE": str(source.resolve()), "LESSON_BUILD": str(build.folder.resolve())},
                              memory=0 if prefix or sanitized else running.MOST_MEMORY, folder=folder)
        result.output = outcome.output
        done, crash = read_result(result, folder / "result")
    where = f"in the check \"{result.checks[-1].name}\"{', for the input ' + crash if crash else ''}: " \
        if result.checks else ""
    if not done or outcome.timed_out:
        result.problem = why_it_ended(outcome, limit_s, where)
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
        print("Your code printed:\n" + first_lines(running.printable(result.output), 10))
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
    """For CI: the blank must compile, end, and fail, and the solution pass in every variant. Returns the status."""
    missing = chapter.missing_tools()
    if missing:
        print(f"SKIPPED: no {', '.join(missing)} on this machine, so the {which} of chapter {chapter.number} "
              "was not graded")
        return 0
    status = 0
    variants = starter.every_variant(chapter)
    for student in variants if which == "solution" else variants[:1]:
        text = starter.split(chapter.source)[which == "solution"]
        with tempfile.TemporaryDirectory(prefix="lesson-") as name:
            source = pathlib.Path(name) / chapter.source.name
            source.write_text(student.filled(text, chapter), encoding="utf-8")
            result = grade(chapter, build, source, student, shown_as=f"the {which}{student.label}")
        if which == "solution":
            status = max(status, report(chapter, result, f"the solution{student.label}"))
        elif result.problem or not result.checks or result.passed:
            report(chapter, result, f"the blank{student.label}")
            print(f"FAIL  chapter {chapter.number}: expected a blank that compiles, ends, and fails a check")
            status = 1
        else:
            failed = sum(1 for check in result.checks if not check.passed)
            print(f"The blank of chapter {chapter.number}{student.label} compiles and fails {failed} of "
                  f"{len(result.checks)} checks.")
    return status
