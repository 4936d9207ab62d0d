"""The Python programs of the course print what its texts quote."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TEXTS = sorted((ROOT / "docs" / "course").glob("[0-9][0-9]_*.md"))


@pytest.mark.parametrize("slug", [path.stem for path in TEXTS])
def test_chapter(slug: str) -> None:
    has_program = (ROOT / "build" / "cpu" / "bin" / f"course_{slug}").exists()
    language = "both" if has_program else "python"  # also compares the two programs, where both are built
    command = [sys.executable, ROOT / "tools" / "lesson", "check", slug, "--language", language]
    done = subprocess.run(command, env={**os.environ, "LESSON_PYTHON": sys.executable}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout
    assert "SKIPPED" not in done.stdout
