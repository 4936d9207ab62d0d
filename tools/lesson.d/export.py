"""A student's score as JSON, for the teacher: exercises and exams are graded again, answers are read."""
import json

import exam
import grading
import records
import starter
from chapters import LessonError, all_chapters

FORMAT = 1


def _exercise(chapter, build, lessons, student):
    source = lessons / chapter.slug / chapter.source.name
    if not chapter.source.exists() or not source.exists():
        return None
    if source.read_text(encoding="utf-8") == student.filled(starter.split(chapter.source)[0], chapter):
        return {"passed": False, "checks": {}, "problem": "not started"}
    result = grading.grade(chapter, build, source, student)
    return {"passed": result.passed, "checks": {check.name: bool(check.passed) for check in result.checks},
            "problem": result.problem.split("\n")[0]}


def _exam(chapter, build, lessons):
    source = lessons / chapter.slug / "exam" / "test.cpp"
    if not (chapter.folder / "exam").exists() or not source.exists():
        return None
    result = exam.examine(chapter, build, source)
    return {"passed": result.passed, "killed": len(result.killed), "survived": len(result.survived),
            "needed": result.needed, "problem": result.problem.split("\n")[0]}


def _answers(chapter, lessons, kind):
    """First answers, the ones that count, of the kind `predict` or `detective`."""
    found = {key.partition("/")[2]: entry for key, entry in records.read(lessons, chapter).items()
             if key.startswith(kind + "/")}
    return found or None


def score(chapter_result):
    """(points, possible points): one each for exercise, exam, right predictions, and case."""
    points = possible = 0.0
    for kind, entry in chapter_result.items():
        if kind in ("exercise", "exam"):
            possible += 1
            points += entry["passed"]
        elif kind == "predict":
            possible += 1
            points += sum(answer["right"] for answer in entry.values()) / len(entry)
        elif kind == "detective":
            possible += 1
            points += any(answer["solved"] for answer in entry.values())
    return points, possible


def export(build, lessons, student, path, only):
    """Writes the JSON file, or prints it, and returns 0."""
    if not student.name:
        raise LessonError("export: expected --student NAME")
    if not lessons.is_dir():
        raise LessonError(f"export: expected the folder {lessons}; --lessons names another")
    chapters, points, possible = {}, 0.0, 0.0
    for chapter in all_chapters():
        if only and chapter.slug not in only:
            continue
        parts = {"exercise": _exercise(chapter, build, lessons, student), "exam": _exam(chapter, build, lessons),
                 "predict": _answers(chapter, lessons, "predict"),
                 "detective": _answers(chapter, lessons, "detective")}
        parts = {kind: entry for kind, entry in parts.items() if entry is not None}
        if parts:
            chapters[chapter.slug] = parts
            got, most = score(parts)
            points, possible = points + got, possible + most
    result = {"format": FORMAT, "student": student.name, "seed": student.seed, "points": round(points, 2),
              "possible": possible, "chapters": chapters}
    text = json.dumps(result, indent=2, ensure_ascii=False) + "\n"
    if path is None:
        print(text, end="")
    else:
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise LessonError(f"export: expected to write {path}, got: {error.strerror}", 1) from None
        print(f"{student.name}: {points:g} of {possible:g} points, written to {path}")
    return 0
