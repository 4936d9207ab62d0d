"""Exams: the student's own test must pass on the right code and fail on code with a planted bug."""
import json
import pathlib
import tempfile

import bugs
import compiling
import grading
import running
import starter
from chapters import LessonError

LIMIT_S = 10


class ExamResult:
    """Whether the test passed on the right code, and which bugs it killed."""

    def __init__(self, needed):
        self.needed = needed
        self.problem = ""
        self.killed = []
        self.survived = []

    @property
    def passed(self):
        return not self.problem and len(self.killed) >= self.needed


def _run(program, folder, sanitized):
    """(passed, what it said or why it ended) of the student's test on one version of the code."""
    path = folder / "result"
    path.unlink(missing_ok=True)
    outcome = running.run([program, "--result", path], LIMIT_S, folder=folder,
                          memory=0 if sanitized else running.MOST_MEMORY)
    result = grading.Result()
    done, _ = grading.read_result(result, path)
    if not done or outcome.timed_out:
        return False, grading.why_it_ended(outcome, LIMIT_S)
    said = [line.replace("your code threw an exception: ", "") for line in result.checks[0].lines]
    return result.checks[0].passed, said[0] if said else ""


def examine(chapter, build, source, shown_as=None, all_bugs=True):
    """Runs the student's test on every version of the code and returns the ExamResult.

    Without `all_bugs` it stops as soon as the test cannot pass any more.
    """
    folder = chapter.folder / "exam"
    code = bugs.Source(folder / "code.cpp")
    if not source.exists():
        raise LessonError(f"expected your test {source}; `tools/lesson exam {chapter.number} --start` writes it")
    settings = json.loads((folder / "exam.json").read_text()) if (folder / "exam.json").exists() else {}
    result = ExamResult(settings.get("needed", len(code.names)))
    headers = sorted(folder.glob("*.h"))
    options, libraries = build.flags(compiling.needs_halfgrad([source, code.path, *headers]))
    sanitized = any(build.description.get("sanitize", []))
    with tempfile.TemporaryDirectory(prefix="lesson-") as name:
        work = pathlib.Path(name)
        right = work / "code.cpp"
        right.write_text(code.text(), encoding="utf-8")
        program, result.problem = grading.build_program(
            build, source, shown_as or source, work, [compiling.SHARED / "exam" / "main.cpp", right], headers, {})
        if program is None:
            return result
        passed, said = _run(program, work, sanitized)
        if not passed:
            result.problem = f"your test fails on the right code: {said}"
            return result
        for bug in code.names:
            if not all_bugs and len(result.survived) > len(code.names) - result.needed:
                break
            wrong = work / f"{bug}.cpp"
            wrong.write_text(code.text(bug), encoding="utf-8")
            compiled, says = compiling.compile_file(build, wrong, work / "wrong.o",
                                                    ["-w", "-I", folder, *options])
            if not compiled:
                raise LessonError(f"{code.path}: bug {bug} does not compile:\n{says}", 3)
            objects = [work / "student.o", work / "course_0.o", work / "wrong.o"]
            problem = compiling.link(build, objects, work / "graded", options, libraries)
            if problem:
                raise LessonError(f"{code.path}: bug {bug} does not link:\n{problem}", 3)
            passed, said = _run(work / "graded", work, sanitized)
            (result.survived if passed else result.killed).append((bug, said))
    return result


def report(chapter, result, hints):
    """Prints the result; returns 0 if enough bugs were killed, else 1."""
    if result.problem:
        print(f"FAIL  {result.problem}")
        print(f"NOT YET: the exam of chapter {chapter.number}.")
        return 1
    print("pass  the right code passes your test")
    for i, (bug, said) in enumerate(result.killed, 1):
        print(f"pass  bug {i} is found: {said.splitlines()[0] if said else 'the test failed'}")
    for i, (bug, _) in enumerate(result.survived, len(result.killed) + 1):
        print(f"FAIL  bug {i} is not found" + (f": the code {bug.replace('_', ' ')}" if hints else ""))
    total = len(result.killed) + len(result.survived)
    if result.passed:
        print(f"PASSED: the exam of chapter {chapter.number}, {len(result.killed)} of {total} bugs found.")
        return 0
    print(f"NOT YET: {len(result.killed)} of {total} bugs found, {result.needed} are needed."
          + ("" if hints else " --hints names the others."))
    return 1


def verify(chapter, build):
    """For CI: our test finds every bug, and the starter does not pass."""
    blank, solution = starter.split(chapter.folder / "exam" / "test.cpp")
    with tempfile.TemporaryDirectory(prefix="lesson-") as name:
        source = pathlib.Path(name) / "test.cpp"
        source.write_text(solution, encoding="utf-8")
        result = examine(chapter, build, source, "the solution of the exam")
        status = report(chapter, result, hints=True)
        if result.survived:
            print(f"FAIL  chapter {chapter.number}: expected a solution that finds every bug")
            status = 1
        source.write_text(blank, encoding="utf-8")
        blank_result = examine(chapter, build, source, "the starter of the exam", all_bugs=False)
    if blank_result.passed or "does not compile" in blank_result.problem:
        print(f"FAIL  chapter {chapter.number}: expected a starter of the exam that compiles and does not pass")
        status = 1
    return status
