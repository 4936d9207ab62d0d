"""Starter and solution, which come from one source.

In exercise.cpp the solution stands between `// solution begin` and `// solution end`. The starter has the lines
`// blank: CODE` of that region instead, as CODE. Files in other languages may use # or ; for //.
"""
import re
import shutil

from chapters import LessonError

MARKER = re.compile(r"^\s*(?://|#|;)\s*solution (begin|end)\s*$")
BLANK = re.compile(r"^(\s*)(?://|#|;)\s*blank: ?(.*)$")


def split(chapter):
    """(starter, solution) of the chapter's exercise."""
    if not chapter.source.exists():
        raise LessonError(f"chapter {chapter.number} has no exercise: expected {chapter.source}")
    starter, solution, inside, regions = [], [], False, 0
    for number, line in enumerate(chapter.source.read_text(encoding="utf-8").split("\n"), 1):
        marker = MARKER.match(line)
        blank = BLANK.match(line)
        if marker:
            if inside == (marker[1] == "begin"):
                raise LessonError(f"{chapter.source}:{number}: expected `solution begin` and `solution end` by turns")
            inside = not inside
            regions += inside
        elif blank:
            if not inside:
                raise LessonError(f"{chapter.source}:{number}: expected `blank:` between `solution begin` and "
                                  "`solution end`")
            starter.append((blank[1] + blank[2]).rstrip())
        else:
            solution.append(line)
            if not inside:
                starter.append(line)
    if inside or not regions:
        raise LessonError(f"{chapter.source}: expected `// solution begin` and `// solution end`")
    return "\n".join(starter), "\n".join(solution)


def start(chapter, folder, force):
    """Writes the starter, with the task and the headers it includes, to folder/SLUG."""
    target = folder / chapter.slug
    path = target / chapter.source.name
    text, _ = split(chapter)
    if path.exists() and not force:
        raise LessonError(f"{path} exists, and may be your work. `tools/lesson start {chapter.number} --force` "
                          f"replaces it and keeps the old one as {path.name}.old", 1)
    target.mkdir(parents=True, exist_ok=True)
    if path.exists():
        shutil.copy(path, path.with_name(path.name + ".old"))
    path.write_text(text, encoding="utf-8")
    for other in sorted(chapter.folder.glob("exercise*.h")) + [chapter.folder / "README.md"]:
        if other.exists():
            shutil.copy(other, target / other.name)
    print(f"Wrote {path}. Read {target / 'README.md'}, fill in the blank,\n"
          f"then run `tools/lesson test {chapter.number}`.")
    return 0
