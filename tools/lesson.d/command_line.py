"""The commands of tools/lesson and their options."""
import argparse
import pathlib
import sys

import chapters
import check
import grading
import starter
from chapters import LessonError, ROOT


def _parser():
    parser = argparse.ArgumentParser(prog="tools/lesson", formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description="The course of docs/course: exercises, graded offline.",
                                     epilog="Status: 0 passed, 1 not yet, 2 wrong usage, 3 no compiler or no build.")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "cpu", metavar="DIR",
                        help="a build of halfgrad (default: build/cpu)")
    parser.add_argument("--lessons", type=pathlib.Path, default=pathlib.Path("lessons"), metavar="DIR",
                        help="the folder of your work (default: lessons)")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name, says, chapter=True):
        command = commands.add_parser(name, help=says, description=says)
        if chapter:
            command.add_argument("chapter", help="its number or name: 2, rounding")
        return command

    add("list", "Lists the chapters.", chapter=False)
    start = add("start", "Writes the chapter's exercise to lessons/.")
    start.add_argument("--force", action="store_true", help="replace your file; the old one is kept as .old")
    test = add("test", "Compiles and grades your exercise, and says why it fails.")
    test.add_argument("file", nargs="?", type=pathlib.Path, help="your file (default: in lessons/)")
    test.add_argument("--student", default="", help="your name, which chooses your variant")
    own = test.add_mutually_exclusive_group()
    own.add_argument("--blank", action="store_true", help="grade the starter, which must fail (for CI)")
    own.add_argument("--solution", action="store_true", help="grade the solution, which must pass (for CI)")
    add("solution", "Prints the solution of the chapter's exercise.")
    checked = add("check", "Runs the chapter's programs and compares each number of its text.")
    checked.add_argument("--language", choices=["both", "c++", "python"], default="both")
    add("verify", "Checks all that the chapter has, as CI does: check, blank and solution.")
    return parser


def _list(_options, _build):
    for chapter in chapters.all_chapters():
        print(f"{chapter.number:2}  {chapter.slug:22}  {chapter.title}")
    return 0


def _test(options, build):
    chapter = chapters.find(options.chapter)
    if options.blank or options.solution:
        return grading.grade_own(chapter, build, "blank" if options.blank else "solution")
    source = options.file or options.lessons / chapter.slug / chapter.source.name
    result = grading.grade(chapter, build, source)
    return grading.report(chapter, result, source)


def _start(options, _build):
    return starter.start(chapters.find(options.chapter), options.lessons, options.force)


def _solution(options, _build):
    print(starter.split(chapters.find(options.chapter))[1], end="")
    return 0


def _check(options, build):
    return check.check(chapters.find(options.chapter), build, options.language)


def _verify(options, build):
    chapter = chapters.find(options.chapter)
    steps = [check.check(chapter, build, "both")]
    if chapter.folder.exists():
        steps += [grading.grade_own(chapter, build, which) for which in ("blank", "solution")]
    return max(steps)


COMMANDS = {"list": _list, "start": _start, "test": _test, "solution": _solution, "check": _check,
            "verify": _verify}


def main(arguments):
    """Runs one command and returns the status."""
    options = _parser().parse_args(arguments)
    try:
        return COMMANDS[options.command](options, chapters.Build(options.build))
    except LessonError as error:
        print(f"lesson: {error}", file=sys.stderr)
        return error.status
