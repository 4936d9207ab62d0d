"""Starter and solution, which come from one source.

In exercise.cpp the solution stands between `// solution begin` and `// solution end`. The starter has the lines
`// blank: CODE` of that region instead, as CODE. Files in other languages may use # or ; for //.
"""
import re
import shutil

from chapters import LessonError
from students import Student

MARKER = re.compile(r"^\s*(?://|#|;)\s*solution (begin|end)\s*$")
BLANK = re.compile(r"^(\s*)(?://|#|;)\s*blank: ?(.*)$")


def split(source):
    """(starter, solution) of a source."""
    if not source.exists():
        raise LessonError(f"this chapter has no such exercise: expected {source}")
    starter, solution, inside, regions = [], [], False, 0
    for number, line in enumerate(source.read_text(encoding="utf-8").split("\n"), 1):
        marker = MARKER.match(line)
        blank = BLANK.match(line)
        if marker:
            if inside == (marker[1] == "begin"):
                raise LessonError(f"{source}:{number}: expected `solution begin` and `solution end` by turns")
            inside = not inside
            regions += inside
        elif blank:
            if not inside:
                raise LessonError(f"{source}:{number}: expected `blank:` between `solution begin` and `solution end`")
            starter.append((blank[1] + blank[2]).rstrip())
        else:
            solution.append(line)
            if not inside:
                starter.append(line)
    if inside or not regions:
        raise LessonError(f"{source}: expected `// solution begin` and `// solution end`")
    return "\n".join(starter), "\n".join(solution)


def every_variant(chapter):
    """A student for each variant of the exercise, for CI."""
    variants = chapter.settings().get("variants", [])
    return [Student(fixed_variant=i) for i in range(len(variants))] or [Student()]


def _write(path, text, command, force):
    """Writes the file that the student will change; an old one is only replaced by force, and kept."""
    if path.exists() and not force:
        raise LessonError(f"{path} exists, and may be your work. `{command} --force` replaces it and keeps the old "
                          f"one as {path.name}.old", 1)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        shutil.copy(path, path.with_name(path.name + ".old"))
    path.write_text(text, encoding="utf-8")


def start(chapter, lessons, student, force):
    """Writes the starter, with the task and the headers that it includes, to lessons/SLUG."""
    target = lessons / chapter.slug
    path = target / chapter.source.name
    _write(path, student.filled(split(chapter.source)[0], chapter), f"tools/lesson start {chapter.number}", force)
    for other in sorted(chapter.folder.glob("*.h")) + [chapter.folder / "README.md"]:
        if other.exists():
            (target / other.name).write_text(student.filled(other.read_text(encoding="utf-8"), chapter),
                                             encoding="utf-8")
    print(f"Wrote {path}. Read {target / 'README.md'}, fill in the blank,\n"
          f"then run `tools/lesson test {chapter.number}`.")
    return 0


def start_exam(chapter, lessons, force):
    """Writes the starter of the student's own test, with the task and the declarations, to lessons/SLUG/exam."""
    folder, target = chapter.folder / "exam", lessons / chapter.slug / "exam"
    _write(target / "test.cpp", split(folder / "test.cpp")[0], f"tools/lesson exam {chapter.number} --start", force)
    for other in [*sorted(folder.glob("*.h")), folder / "README.md"]:
        if other.exists():
            shutil.copy(other, target / other.name)
    print(f"Wrote {target / 'test.cpp'}. Read {target / 'README.md'} and {target / 'exam.h'}, write test(),\n"
          f"then run `tools/lesson exam {chapter.number}`.")
    return 0
