"""Pages that show files of the repository, so that links to sources work on the site."""

import os
import re
from pathlib import Path

_SKIPPED = {"build", "__pycache__", "site"}
_LANGUAGES = {".h": "cpp", ".cpp": "cpp", ".cu": "cuda", ".py": "python", ".cmake": "cmake",
              ".json": "json", ".patch": "diff", ".md": "markdown", ".yml": "yaml", ".toml": "toml",
              ".ipynb": "json", ".svg": "xml", ".sh": "bash"}
_IMAGES = {".png", ".svg", ".gif", ".jpg", ".webp"}
_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)|(?:href|src)=\"([^\"]+)\"")


def repository_files(root):
    """Paths of the repository's files, relative to its root, without builds and hidden folders."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in _SKIPPED and not f.startswith("."))
        for name in sorted(names):
            yield (Path(folder) / name).relative_to(root).as_posix()


def title_of(file):
    """The first heading of a page."""
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            return line[2:].replace("`", "").strip()
    return file.name


def is_image(path):
    return Path(path).suffix in _IMAGES


def target_of(page, link):
    """The path that a link of `page` names, from the root; None if it leaves the repository."""
    link = link.partition("#")[0]
    if not link or ":" in link or link.startswith("/"):
        return None
    path = os.path.normpath(os.path.join(os.path.dirname(page), link))
    return None if path.startswith("..") else path


def linked_targets(page, markdown):
    """What a page may link: also what only looks like a link, in a code block."""
    for match in _LINK.finditer(markdown):
        target = target_of(page, match.group(1) or match.group(2))
        if target:
            yield target


def source_page(root, path):
    """The Markdown of a page that shows a file or the names in a folder."""
    head = (f"---\ntitle: {path}\nsearch:\n  exclude: true\nhide:\n  - toc\n  - navigation\n---\n\n"
            f"# {path}\n\n")
    file = Path(root) / path
    if file.is_dir():
        names = sorted(entry.name + "/" * entry.is_dir() for entry in file.iterdir()
                       if not entry.name.startswith("."))
        return head + "\n".join(f"* `{name}`" for name in names) + "\n"
    text = file.read_text(encoding="utf-8")
    fence = "`" * max([3] + [len(run) + 1 for run in re.findall(r"^ *(`{3,})", text, re.MULTILINE)])
    opening = f"{fence} {{ .{_language(file, text)} linenums=\"1\" }}"
    return f"{head}{opening}\n{text.rstrip()}\n{fence}\n"


def _language(file, text):
    if file.name == "CMakeLists.txt":
        return "cmake"
    if text.startswith("#!"):
        return "python" if "python" in text.partition("\n")[0] else "bash"
    return _LANGUAGES.get(file.suffix, "text")


def is_text(root, path):
    file = Path(root) / path
    if file.is_dir():
        return True
    with open(file, "rb") as stream:
        return b"\0" not in stream.read(4096)
