"""A student's name, and the seed and the variant that follow from it."""
import hashlib
import json
import re

from chapters import LessonError


class Student:
    """Seed 0 and the first variant belong to nobody in particular: the name is empty."""

    def __init__(self, name="", fixed_variant=None):
        self.name = " ".join(name.split())
        digest = hashlib.sha256(self.name.casefold().encode("utf-8")).digest()
        self.seed = int.from_bytes(digest[:7], "big") if self.name else 0
        self.fixed_variant = fixed_variant

    @property
    def label(self):
        return "" if self.fixed_variant is None else f" (variant {self.fixed_variant})"

    def choice(self, count, what):
        """A number below `count`, the same each time for this name and this purpose."""
        if self.fixed_variant is not None:
            return self.fixed_variant % count if count else 0
        if not self.name or count == 0:
            return 0
        digest = hashlib.sha256(f"{what}/{self.name.casefold()}".encode("utf-8")).digest()
        return int.from_bytes(digest[:7], "big") % count

    def variant(self, variants):
        return self.choice(len(variants), json.dumps(variants, sort_keys=True))

    def filled(self, text, chapter):
        """The text with {{NAME}} replaced by the values of the student's variant."""
        variants = chapter.settings().get("variants", [])
        values = variants[self.variant(variants)] if variants else {}
        text = re.sub(r"\{\{([A-Z_]+)\}\}", lambda found: str(values.get(found[1], found[0])), text)
        unknown = re.search(r"\{\{([A-Z_]+)\}\}", text)
        if unknown:
            raise LessonError(f"chapter {chapter.number}: exercise.json has no variant for {unknown[0]}")
        return text


def remembered(lessons, name):
    """The student called `name`; without a name the one that `start --student` has written down."""
    path = lessons / "student.txt"
    if not name and path.exists():
        name = path.read_text(encoding="utf-8")
    return Student(name)


def remember(lessons, student):
    if student.name:
        lessons.mkdir(parents=True, exist_ok=True)
        (lessons / "student.txt").write_text(student.name + "\n", encoding="utf-8")
