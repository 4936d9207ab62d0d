"""Answers that were given to questions and cases: lessons/SLUG/answers.json, for `tools/lesson export`."""
import json


def _path(lessons, chapter):
    return lessons / chapter.slug / "answers.json"


def read(lessons, chapter):
    path = _path(lessons, chapter)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}


def add(lessons, chapter, key, answer, right):
    """Adds an answer. The first one counts; later ones are counted as tries."""
    answers = read(lessons, chapter)
    entry = answers.setdefault(key, {"first": answer, "right": right, "tries": 0})
    entry["tries"] += 1
    entry["last"] = answer
    entry["solved"] = entry.get("solved", False) or right
    path = _path(lessons, chapter)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(answers, indent=2) + "\n", encoding="utf-8")
