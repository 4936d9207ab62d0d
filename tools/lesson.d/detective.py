"""Detective cases: a program with a planted bug, whose facts differ from those of the right program."""
import pathlib
import tempfile

import bugs
import check
import compiling
import facts
import grading
import records
import running
from chapters import LessonError

LIMIT_S = 30


def _build_and_run(build, source, folder, shown_as=None):
    """(facts, what is wrong) of a program."""
    options, libraries = build.flags(compiling.needs_halfgrad([source]))
    compiled, says = compiling.compile_file(build, source, folder / "case.o",
                                            ["-I", compiling.SHARED, "-w", *options], shown_as)
    if not compiled:
        return {}, "the program does not compile:\n" + compiling.first_lines(says, 20)
    problem = compiling.link(build, [folder / "case.o"], folder / "case", options, libraries)
    if problem:
        return {}, problem
    outcome = running.run([folder / "case"], LIMIT_S, folder=folder, memory=0)
    printed = facts.read(outcome.output)
    if outcome.timed_out or outcome.status:
        return printed, grading.why_it_ended(outcome, LIMIT_S).replace("before the grader finished: remove exit() "
                                                                       "and the like", "")
    return printed, ""


def _run_text(build, text):
    with tempfile.TemporaryDirectory(prefix="lesson-") as name:
        source = pathlib.Path(name) / "case.cpp"
        source.write_text(text, encoding="utf-8")
        return _build_and_run(build, source, pathlib.Path(name))


def _differences(right, found):
    return [(name, value, found.get(name, "nothing")) for name, value in right.items()
            if name not in found or not check.same(value, found[name])]


def _case(chapter, student):
    source = bugs.Source(chapter.folder / "detective" / "case.cpp")
    return source, source.names[student.choice(len(source.names), f"detective {chapter.slug}")]


def _right_facts(build, source):
    right, problem = _run_text(build, source.text())
    if problem or not right:
        raise LessonError(f"{source.path}: the right program fails: {problem or 'it prints no fact'}", 3)
    return right


def _table(rows):
    print(f"  {'fact':26} {'right':>16} {'this program':>16}")
    for name, value, got in rows:
        print(f"  {name:26} {value:>16} {got:>16}")


def open_case(chapter, build, lessons, student, force):
    """Writes the student's program and shows what it prints beside what the right program prints."""
    source, bug = _case(chapter, student)
    target = lessons / chapter.slug / "detective"
    path = target / "case.cpp"
    if force or not path.exists():
        target.mkdir(parents=True, exist_ok=True)
        path.write_text(source.text(bug), encoding="utf-8")
    story = chapter.folder / "detective" / "README.md"
    if story.exists():
        (target / "README.md").write_text(story.read_text(encoding="utf-8"), encoding="utf-8")
    found, problem = _run_text(build, source.text(bug))
    print(f"The program is {path}, the story {target / 'README.md'}. What is seen:")
    if problem:
        print(f"  {problem}")
    _table(_differences(_right_facts(build, source), found))
    print(f"Find the line: tools/lesson detective {chapter.number} --line N\n"
          f"Or repair the file: tools/lesson detective {chapter.number} --test")
    return 0


def answer(chapter, lessons, student, line):
    """Says whether `line` is the guilty one."""
    source, bug = _case(chapter, student)
    count = len(source.text(bug).split("\n")) - 1
    if not 1 <= line <= count:
        raise LessonError(f"--line: expected a line of case.cpp, 1 to {count}, got {line}")
    guilty = line in source.guilty_lines(bug)
    records.add(lessons, chapter, "detective/line", line, guilty)
    if not guilty:
        print(f"Line {line} is innocent.")
        return 1
    print(f"Line {line} is guilty. {source.why.get(bug, '')}")
    return 0


def test(chapter, build, lessons):
    """Compiles and runs the repaired file; its facts must be those of the right program."""
    path = lessons / chapter.slug / "detective" / "case.cpp"
    if not path.exists():
        raise LessonError(f"expected your file {path}; `tools/lesson detective {chapter.number}` writes it")
    right = _right_facts(build, bugs.Source(chapter.folder / "detective" / "case.cpp"))
    with tempfile.TemporaryDirectory(prefix="lesson-") as name:
        found, problem = _build_and_run(build, path, pathlib.Path(name))
    wrong = _differences(right, found)
    records.add(lessons, chapter, "detective/repair", "", not wrong and not problem)
    if problem:
        print(f"FAIL  {problem}")
    if wrong:
        _table(wrong)
    if wrong or problem:
        print("NOT YET: the program still prints something else.")
        return 1
    print(f"PASSED: all {len(right)} facts are right.")
    return 0


def verify(chapter, build):
    """For CI: every bug compiles, changes a fact or ends the program, has a reason, and has guilty lines."""
    source = bugs.Source(chapter.folder / "detective" / "case.cpp")
    right = _right_facts(build, source)
    status = 0
    for bug in source.names:
        found, problem = _run_text(build, source.text(bug))
        if "does not compile" in problem or "does not link" in problem or not (problem or _differences(right, found)):
            print(f"FAIL  {source.path}: bug {bug}: expected a program whose facts differ, got {problem or 'the same'}")
            status = 1
        if bug not in source.why:
            print(f"FAIL  {source.path}: expected `// why {bug}: SENTENCE`")
            status = 1
    if not source.names:
        print(f"FAIL  {source.path}: expected `// bug NAME: CODE`")
        status = 1
    return status
