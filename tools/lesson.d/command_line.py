"""The commands of tools/lesson and their options."""
import argparse
import pathlib
import sys

import chapters
import check
import detective
import exam
import export
import grading
import predict
import starter
import students
from chapters import LessonError, ROOT


def _parser():
    parser = argparse.ArgumentParser(prog="tools/lesson", description="The course of docs/course, graded offline.",
                                     epilog="Status: 0 passed, 1 not yet, 2 wrong usage, 3 no compiler or no build.")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "cpu", metavar="DIR",
                        help="a build of halfgrad (default: build/cpu)")
    parser.add_argument("--lessons", type=pathlib.Path, default=pathlib.Path("lessons"), metavar="DIR",
                        help="the folder of your work (default: lessons)")
    parser.add_argument("--student", default="", metavar="NAME",
                        help="your name, which chooses your variant; `start` remembers it")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name, says, chapter=True):
        command = commands.add_parser(name, help=says, description=says)
        if chapter:
            command.add_argument("chapter", help="its number or name: 2, rounding")
        # Options of all commands may also stand after the command.
        for option in ("--build", "--lessons"):
            command.add_argument(option, type=pathlib.Path, default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        command.add_argument("--student", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        return command

    add("list", "Lists the chapters and what each has.", chapter=False)
    start = add("start", "Writes the chapter's exercise to lessons/.")
    start.add_argument("--force", action="store_true", help="replace your file; the old one is kept as .old")
    test = add("test", "Compiles and grades your exercise, and says why it fails.")
    test.add_argument("file", nargs="?", type=pathlib.Path, help="your file (default: in lessons/)")
    own = test.add_mutually_exclusive_group()
    own.add_argument("--blank", action="store_true", help="grade the starter, which must fail (for CI)")
    own.add_argument("--solution", action="store_true", help="grade the solution, which must pass (for CI)")
    add("solution", "Prints the solution of the chapter's exercise.")
    predicted = add("predict", "Asks what the program will print, runs it, and compares.")
    predicted.add_argument("--answer", action="append", default=[], metavar="X",
                           help="an answer instead of the keyboard, once for each question")
    examined = add("exam", "Runs your own test on the right code and on code with planted bugs.")
    examined.add_argument("file", nargs="?", type=pathlib.Path, help="your test (default: in lessons/)")
    examined.add_argument("--start", action="store_true", help="write the starter of your test")
    examined.add_argument("--force", action="store_true", help="with --start: replace your test, which is kept as .old")
    examined.add_argument("--hints", action="store_true", help="name the bugs that your test does not find")
    case = add("detective", "Gives you a program with a planted bug to find.")
    answer = case.add_mutually_exclusive_group()
    answer.add_argument("--line", type=int, metavar="N", help="your answer: the line of the bug")
    answer.add_argument("--test", action="store_true", help="compile and run your repaired file")
    case.add_argument("--force", action="store_true", help="write the program again, over your changes")
    exported = add("export", "Writes your score as JSON: everything in lessons/ is graded again.", chapter=False)
    exported.add_argument("--out", type=pathlib.Path, metavar="FILE", help="default: standard output")
    exported.add_argument("--chapters", nargs="+", default=[], metavar="N", help="only these chapters")
    checked = add("check", "Runs the chapter's programs and compares each number of its text.")
    checked.add_argument("--language", choices=["both", "c++", "python"], default="both")
    add("verify", "Checks all that the chapter has, as CI does.")
    return parser


def _list(_options, _build, _student):
    for chapter in chapters.all_chapters():
        parts = [name for name, path in (("exercise", chapter.source.name), ("predict", "predict.txt"),
                                         ("exam", "exam"), ("detective", "detective"))
                 if (chapter.folder / path).exists()]
        print(f"{chapter.title}\n    {', '.join(parts) or 'no exercise'}  ({chapter.slug})")
    return 0


def _start(options, _build, student):
    if options.student:
        students.remember(options.lessons, student)
    return starter.start(chapters.find(options.chapter), options.lessons, student, options.force)


def _test(options, build, student):
    chapter = chapters.find(options.chapter)
    if options.blank or options.solution:
        return grading.grade_own(chapter, build, "blank" if options.blank else "solution")
    missing = chapter.missing_tools()
    if missing:
        raise LessonError(f"this exercise needs {', '.join(missing)}, which this machine lacks", 3)
    source = options.file or options.lessons / chapter.slug / chapter.source.name
    return grading.report(chapter, grading.grade(chapter, build, source, student), source)


def _solution(options, _build, student):
    chapter = chapters.find(options.chapter)
    print(student.filled(starter.split(chapter.source)[1], chapter), end="")
    return 0


def _predict(options, build, _student):
    return predict.ask(chapters.find(options.chapter), build, options.lessons, options.answer)


def _exam(options, build, _student):
    chapter = chapters.find(options.chapter)
    if options.start:
        return starter.start_exam(chapter, options.lessons, options.force)
    source = options.file or options.lessons / chapter.slug / "exam" / "test.cpp"
    return exam.report(chapter, exam.examine(chapter, build, source), options.hints)


def _detective(options, build, student):
    chapter = chapters.find(options.chapter)
    if options.line is not None:
        return detective.answer(chapter, options.lessons, student, options.line)
    if options.test:
        return detective.test(chapter, build, options.lessons)
    if options.student:
        students.remember(options.lessons, student)
    return detective.open_case(chapter, build, options.lessons, student, options.force)


def _export(options, build, student):
    only = [chapters.find(name).slug for name in options.chapters]
    return export.export(build, options.lessons, student, options.out, only)


def _check(options, build, _student):
    return check.check(chapters.find(options.chapter), build, options.language)


def _verify(options, build, _student):
    chapter = chapters.find(options.chapter)
    steps = [check.check(chapter, build, "both")]
    steps += [grading.grade_own(chapter, build, which) for which in ("blank", "solution")]
    for part, module in (("predict.txt", predict), ("exam", exam), ("detective", detective)):
        if (chapter.folder / part).exists():
            steps.append(module.verify(chapter, build))
    return max(steps)


COMMANDS = {"list": _list, "start": _start, "test": _test, "solution": _solution, "predict": _predict, "exam": _exam,
            "detective": _detective, "export": _export, "check": _check, "verify": _verify}


def main(arguments):
    """Runs one command and returns the status."""
    options = _parser().parse_args(arguments)
    try:
        student = students.remembered(options.lessons, options.student)
        return COMMANDS[options.command](options, chapters.Build(options.build), student)
    except LessonError as error:
        sys.stdout.flush()
        print(f"lesson: {error}", file=sys.stderr)
        return error.status
