"""Chapters and builds: where their files are."""
import json
import os
import pathlib
import re
import shutil

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COURSE = ROOT / "examples" / "course"
TEXTS = ROOT / "docs" / "course"


class LessonError(Exception):
    """A mistake or a missing tool, with the message for the user. The status is tools/lesson's."""

    def __init__(self, message, status=2):
        super().__init__(message)
        self.status = status


class Chapter:
    """One chapter and the paths of its files."""

    def __init__(self, slug):
        self.slug = slug
        self.number = int(slug[:2])
        self.text = TEXTS / f"{slug}.md"
        self.python = COURSE / "python" / f"{slug}.py"
        self.folder = COURSE / "exercises" / slug

    @property
    def title(self):
        if self.text.exists():
            first = self.text.read_text(encoding="utf-8").split("\n", 1)[0]
            return re.sub(r"^Chapter (\d+): ", r"\1. ", first.lstrip("# ").strip())
        return self.slug

    def settings(self):
        """What exercise.json says, for exercises that need more than a compiler and halfgrad."""
        path = self.folder / "exercise.json"
        if not path.exists():
            return {}
        return json.loads(path.read_text(encoding="utf-8"))

    def missing_tools(self):
        """Programs that the exercise needs and this machine lacks. The CUDA Toolkit is seldom in PATH."""
        folders = os.environ.get("PATH", os.defpath) + os.pathsep + "/usr/local/cuda/bin"
        return [tool for tool in self.settings().get("tools", []) if not shutil.which(tool, path=folders)]

    @property
    def source(self):
        """The one source of starter and solution."""
        return self.folder / self.settings().get("source", "exercise.cpp")


def all_chapters():
    programs = {path.stem for path in COURSE.glob("[0-9][0-9]_*.cpp")}
    folders = {path.name for path in (COURSE / "exercises").glob("[0-9][0-9]_*") if path.is_dir()}
    texts = {path.stem for path in TEXTS.glob("[0-9][0-9]_*.md")}
    return [Chapter(slug) for slug in sorted(programs | folders | texts)]


def find(name):
    """The chapter with this number (2, 02) or slug (02_rounding, rounding)."""
    chapters = all_chapters()
    for chapter in chapters:
        if name == chapter.slug or name == chapter.slug[3:]:
            return chapter
        if re.fullmatch("[0-9]{1,2}", name) and int(name) == chapter.number:
            return chapter
    known = ", ".join(str(chapter.number) for chapter in chapters)
    raise LessonError(f"expected a chapter of {known}, got {name}; `tools/lesson list` shows them")


class Build:
    """A build folder of halfgrad, which a compiler alone can replace for exercises that use none of it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.description = {}
        path = self.folder / "course.json"
        if path.exists():
            self.description = json.loads(path.read_text(encoding="utf-8"))

    def program(self, chapter):
        path = self.folder / "bin" / f"course_{chapter.slug}"
        if not path.exists():
            raise LessonError(f"expected the program {path}, which is not built. Build the course with\n"
                              "    cmake --preset cpu && cmake --build --preset cpu --target course", 3)
        return path

    def compiler(self):
        named = os.environ.get("CXX") or self.description.get("compiler")
        for candidate in [named] if named else ["c++", "g++", "clang++"]:
            found = shutil.which(candidate)
            if found:
                return found
        raise LessonError(f"expected a C++20 compiler, but found no {named or 'c++, g++ or clang++'}. Install one "
                          "(Debian: apt install g++), or name it: CXX=clang++-14 tools/lesson ...", 3)

    def require(self, settings):
        """Throws unless the build has the files that an exercise needs."""
        for path, target in settings.get("needs", {}).items():
            if not (self.folder / path).exists():
                raise LessonError(f"this exercise needs {self.folder / path}. Build it with\n"
                                  f"    cmake --preset cpu && cmake --build --preset cpu --target {target}", 3)

    def flags(self, needs_halfgrad):
        """Compile options and libraries for an exercise."""
        if not needs_halfgrad:
            return [], []
        if not self.description:
            raise LessonError(f"this exercise uses halfgrad, but {self.folder} has no build of it. Build it with\n"
                              "    cmake --preset cpu && cmake --build --preset cpu --target halfgrad_libraries", 3)
        missing = [library for library in self.description["libraries"]
                   if library.startswith("/") and not pathlib.Path(library).exists()]
        if missing:
            raise LessonError(f"expected the library {missing[0]}, which is not built. Build it with\n"
                              "    cmake --build --preset cpu --target halfgrad_libraries", 3)
        options = self.description["options"] + self.description["sanitize"]
        options = [option for option in options if option] + ["-I", self.description["include"]]
        libraries = self.description["libraries"]
        shared = {str(pathlib.Path(library).parent) for library in libraries if ".so" in pathlib.Path(library).name}
        return options, [*libraries, *(f"-Wl,-rpath,{folder}" for folder in sorted(shared)), "-pthread"]
